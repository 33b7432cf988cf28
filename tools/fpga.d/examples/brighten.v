// SPDX-License-Identifier: Apache-2.0 OR MIT
// Adds its gain to each byte, at most up to 255.  A packet keeps its length; its end
// raises the interrupt.
//
// Registers: 0x0 the gain, 0 to 255; 0x4 the packets that passed, read only.
module brighten #(
    parameter GAIN = 40         // of the start
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
    input  wire        m_axis_tready,

    input  wire        s_axi_aresetn,
    input  wire [2:0]  s_axi_awaddr,
    input  wire        s_axi_awvalid,
    output wire        s_axi_awready,
    input  wire [31:0] s_axi_wdata,
    input  wire        s_axi_wvalid,
    output wire        s_axi_wready,
    output reg         s_axi_bvalid,
    input  wire        s_axi_bready,
    input  wire [2:0]  s_axi_araddr,
    input  wire        s_axi_arvalid,
    output wire        s_axi_arready,
    output reg  [31:0] s_axi_rdata,
    output reg         s_axi_rvalid,
    input  wire        s_axi_rready,

    output reg         interrupt
);
    reg [7:0]  gain;
    reg [31:0] frames;

    function [7:0] brighter(input [7:0] sample);
        reg [8:0] sum;
        begin
            sum = {1'b0, sample} + {1'b0, gain};
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

    // Registers: a write waits for its address and its data together.
    wire write = s_axi_awvalid && s_axi_wvalid && !s_axi_bvalid;

    assign s_axi_awready = write;
    assign s_axi_wready = write;
    assign s_axi_arready = !s_axi_rvalid;

    always @(posedge aclk)
        if (!s_axi_aresetn) begin
            gain <= GAIN[7:0];
            frames <= 0;
            interrupt <= 0;
            s_axi_bvalid <= 0;
            s_axi_rvalid <= 0;
        end else begin
            interrupt <= m_axis_tvalid && m_axis_tready && m_axis_tlast;
            if (m_axis_tvalid && m_axis_tready && m_axis_tlast)
                frames <= frames + 1;
            if (write && !s_axi_awaddr[2])
                gain <= s_axi_wdata[7:0];
            if (write)
                s_axi_bvalid <= 1;
            else if (s_axi_bready)
                s_axi_bvalid <= 0;
            if (s_axi_arvalid && s_axi_arready) begin
                s_axi_rdata <= s_axi_araddr[2] ? frames : {24'd0, gain};
                s_axi_rvalid <= 1;
            end else if (s_axi_rready)
                s_axi_rvalid <= 0;
        end
endmodule
