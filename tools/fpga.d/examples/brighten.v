// SPDX-License-Identifier: Apache-2.0 OR MIT
// Adds GAIN to each byte, at most up to 255.  A packet keeps its length.
module brighten #(
    parameter GAIN = 40         // 0 to 255
) (
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
    function [7:0] brighter(input [7:0] sample);
        reg [8:0] sum;
        begin
            sum = {1'b0, sample} + GAIN[8:0];
            brighter = sum[8] ? 8'd255 : sum[7:0];
        end
    endfunction

    assign s_axis_tready = !m_axis_tvalid || m_axis_tready;

    always @(posedge aclk)
        if (!aresetn)
            m_axis_tvalid <= 0;
        else if (s_axis_tready) begin
            m_axis_tvalid <= s_axis_tvalid;
            m_axis_tdata <= {brighter(s_axis_tdata[31:24]), brighter(s_axis_tdata[23:16]),
                             brighter(s_axis_tdata[15:8]), brighter(s_axis_tdata[7:0])};
            m_axis_tkeep <= s_axis_tkeep;
            m_axis_tlast <= s_axis_tlast;
        end
endmodule
