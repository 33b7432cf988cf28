# SPDX-License-Identifier: Apache-2.0 OR MIT
"""IPs in Verilog: widths, missing ports and refusals."""

import os

import pytest

from stream import DEADLINE, Stream

CLOCK = "input aclk, input aresetn"
IN = ("input [{0}:0] s_axis_tdata, input s_axis_tlast, input s_axis_tvalid, "
      "output s_axis_tready")
OUT = ("output [{0}:0] m_axis_tdata, output m_axis_tlast, "
       "output m_axis_tvalid, input m_axis_tready")


def module(ports, content="", parameters=""):
    """The text of a module, named after its file."""
    return f"module ip {parameters} ({', '.join(ports)}); {content} endmodule"


PASS = module(
    [CLOCK, IN.format("8 * BYTES - 1"), OUT.format("8 * BYTES - 1"),
     "input [BYTES - 1:0] s_axis_tkeep", "output [BYTES - 1:0] m_axis_tkeep"],
    """
    assign m_axis_tdata = s_axis_tdata;
    assign m_axis_tkeep = s_axis_tkeep;
    assign m_axis_tlast = s_axis_tlast;
    assign m_axis_tvalid = s_axis_tvalid;
    assign s_axis_tready = m_axis_tready;
    """, "#(parameter BYTES = 4)")

# Counts, and shows a value for one clock, whether it is taken or not.
HASTY = module([CLOCK, OUT.format(31)], """
    reg [31:0] count;
    always @(posedge aclk) count <= aresetn ? count + 1 : 0;
    assign m_axis_tdata = count;
    assign m_axis_tlast = 0;
    assign m_axis_tvalid = aresetn;
    """)

WRONG = {
    "it does not compile": module([CLOCK], "wire"),
    "syntax error": module([CLOCK], "wire"),
    "was not found in design": "module other; endmodule",
    "has no input aclk": module(["input clk"]),
    "has no input aresetn": module(["input aclk", IN.format(31)]),
    "has no input s_axis_tdata": module([CLOCK]),
    "has no input s_axis_tlast": module(
        [CLOCK, IN.format(31).replace("tlast", "tend")]),
    "has no output s_axis_tready": module(
        [CLOCK, IN.format(31).replace("output", "input")]),
    "has no input m_axis_tready": module(
        [CLOCK, OUT.format(31).replace("tready", "ready")]),
    "s_axis_tdata of module ip has 24 bits": module([CLOCK, IN.format(23)]),
    "m_axis_tkeep of module ip has 8 bits, and not 4": module(
        [CLOCK, OUT.format(31), "output [7:0] m_axis_tkeep"]),
    "m_axis_tlast of module ip has 2 bits, and not 1": module(
        [CLOCK, OUT.format(31).replace("output m", "output [1:0] m", 1)]),
}


@pytest.fixture
def write(tmp_path):
    def write_one(text):
        file = tmp_path / "ip.v"
        file.write_text(text)
        return file

    return write_one


@pytest.mark.parametrize("sentence", WRONG)
def test_a_module_is_refused_with_a_sentence(verilate, write, sentence):
    file = write(WRONG[sentence])
    run, program = verilate(file)
    assert run.returncode == 1
    assert sentence in run.stderr
    assert str(file) in run.stderr
    assert not program.exists()


@pytest.mark.parametrize("options, sentence", [
    (("--width",), "--width is not a parameter and its value"),
    (("5", "6"), "5 is not a parameter and its value"),
    (("--depth", "5"), "Parameters from the command line were not found in "
     "the design: DEPTH"),
    (("--kernel", "soft"), "no kernel soft: choose blur, edges or sharpen"),
])
def test_a_wrong_parameter_is_refused(verilate, source, options, sentence):
    run, _ = verilate(source / "examples/filter.v", *options)
    assert run.returncode == 1
    assert sentence in run.stderr


@pytest.mark.parametrize("size", [8, 16, 128])
def test_a_stream_of_any_width_passes_packets_of_any_length(
        verilate, write, open_stream, size):
    run, program = verilate(write(PASS), "--bytes", str(size))
    assert (run.returncode, run.stderr) == (0, "")
    stream = open_stream([program])
    for length in (1, 5, 127, 128, 129, 4096, 50001):
        packet = os.urandom(length)
        stream.send(packet, range(20000, length, 20000))
        assert stream.packet() == packet


def test_a_beat_that_changes_before_it_is_taken_ends_the_ip(verilate, write):
    run, program = verilate(write(HASTY))
    assert (run.returncode, run.stderr) == (0, "")
    stream = Stream([program])
    stream.process.wait(DEADLINE)
    status, said = stream.end()
    assert status == 1
    assert "changed TDATA or TLAST before TREADY" in said
