// SPDX-License-Identifier: Apache-2.0 OR MIT
// Replaces each 32-bit word by the sum of all words of its packet so far.  A rest of
// less than a word at the packet's end passes unchanged.
module sum (
    input  wire        aclk,
    input  wire        aresetn,

    input  wire [31:0] s_axis_tdata,
    input  wire [3:0]  s_axis_tkeep,
    input  wire        s_axis_tlast,
    input  wire        s_axis_tvalid,
    output wire        s_axis_tready,

    output reg  [31:0] m_axis_tdata,
    output reg  [3:0]  m_axis_tkeep,
    output reg         m_axis_tlast,
    output reg         m_axis_tvalid,
    input  wire        m_axis_tready
);
    reg  [31:0] so_far;
    wire [31:0] total = so_far + s_axis_tdata;

    assign s_axis_tready = !m_axis_tvalid || m_axis_tready;

    always @(posedge aclk)
        if (!aresetn) begin
            m_axis_tvalid <= 0;
            so_far <= 0;
        end else if (s_axis_tready) begin
            m_axis_tvalid <= s_axis_tvalid;
            m_axis_tdata <= &s_axis_tkeep ? total : s_axis_tdata;
            m_axis_tkeep <= s_axis_tkeep;
            m_axis_tlast <= s_axis_tlast;
            if (s_axis_tvalid)
                so_far <= s_axis_tlast ? 0 : total;
        end
endmodule
