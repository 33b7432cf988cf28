// SPDX-License-Identifier: Apache-2.0 OR MIT
// Sends frames for ever, one behind the other: word i of frame n is n + i.
module source #(
    parameter SIZE = 4096  // bytes of a frame
) (
    input  wire        aclk,
    input  wire        aresetn,

    output wire [31:0] m_axis_tdata,
    output wire        m_axis_tlast,
    output wire        m_axis_tvalid,
    input  wire        m_axis_tready
);
    reg [31:0] number, word;

    assign m_axis_tdata = number + word;
    assign m_axis_tlast = word == SIZE / 4 - 1;
    assign m_axis_tvalid = aresetn;

    always @(posedge aclk)
        if (!aresetn) begin
            number <= 0;
            word <= 0;
        end else if (m_axis_tready) begin
            word <= m_axis_tlast ? 0 : word + 1;
            if (m_axis_tlast)
                number <= number + 1;
        end
endmodule
