// SPDX-License-Identifier: Apache-2.0 OR MIT
// Filters a picture, a packet, with a 3x3 kernel, one sample a clock.  A pixel beyond
// the border has the value of the nearest one.
//
// It visits each line, and one more below the picture, with one more pixel at the
// right, and sends the sample that lies one line above and one pixel to the left.
// The two lines above are in memory, the two pixels to the left in registers.  A
// packet keeps its length: after its last sample, the filter goes on until it has
// sent as many as it received.
module filter #(
    parameter WIDTH = 640,      // pixels of a line
    parameter CHANNELS = 1,     // samples of a pixel, as 3 for red, green and blue
    parameter KERNEL = "blur"   // or "edges" or "sharpen"
) (
    input  wire       aclk,
    input  wire       aresetn,

    input  wire [7:0] s_axis_tdata,
    input  wire       s_axis_tlast,
    input  wire       s_axis_tvalid,
    output wire       s_axis_tready,

    output reg  [7:0] m_axis_tdata,
    output reg        m_axis_tlast,
    output reg        m_axis_tvalid,
    input  wire       m_axis_tready
);
    localparam LINE = WIDTH * CHANNELS;

    // verilator lint_off WIDTH
    localparam EDGES = KERNEL == "edges";
    localparam SHARPEN = KERNEL == "sharpen";
    if (!EDGES && !SHARPEN && KERNEL != "blur")
        $error("no kernel %s: choose blur, edges or sharpen", KERNEL);
    // verilator lint_on WIDTH

    reg [7:0] above [0:LINE - 1];               // the line before this one
    reg [7:0] top [0:LINE - 1];                 // and the one before that
    reg [23:0] columns [0:2 * CHANNELS - 1];    // the last ones, the newest first
    integer x;                                  // sample in its line
    reg first, second;                          // which line
    reg ended;                                  // the last sample has come
    integer held;                               // samples received and not sent

    wire beyond = x >= LINE;                    // right of the picture
    wire takes = !beyond && !ended;
    wire sends = !first && x >= CHANNELS;
    wire room = !m_axis_tvalid || m_axis_tready;
    wire step = room && (!takes || s_axis_tvalid);
    wire last = sends && ended && held == 1;

    assign s_axis_tready = room && takes;

    // Three columns of three samples, from top to bottom.
    wire [7:0] low = ended ? above[x] : s_axis_tdata;
    wire [7:0] middle = first ? low : above[x];
    wire [7:0] high = first || second ? middle : top[x];
    wire [23:0] right = beyond ? columns[CHANNELS - 1] : {high, middle, low};
    wire [23:0] centre = columns[CHANNELS - 1];
    wire [23:0] left = x < 2 * CHANNELS ? centre : columns[2 * CHANNELS - 1];

    function integer total(input [23:0] column);
        total = {24'd0, column[23:16]} + {24'd0, column[15:8]} + {24'd0, column[7:0]};
    endfunction

    function [7:0] clamped(input integer value);
        clamped = value < 0 ? 0 : value > 255 ? 255 : value[7:0];
    endfunction

    wire [31:0] all = total(left) + total(centre) + total(right);
    wire [31:0] self = {24'd0, centre[15:8]};
    wire [31:0] plus = total(centre) + {24'd0, left[15:8]} + {24'd0, right[15:8]};
    wire [31:0] value = EDGES ? 9 * self - all :
                        SHARPEN ? 6 * self - plus : (all + 4) / 9;
    integer i;

    always @(posedge aclk)
        if (!aresetn) begin
            {m_axis_tvalid, ended, second} <= 0;
            first <= 1;
            x <= 0;
            held <= 0;
        end else begin
            if (m_axis_tready)
                m_axis_tvalid <= 0;
            if (step) begin
                if (sends) begin
                    m_axis_tvalid <= 1;
                    m_axis_tdata <= clamped(value);
                    m_axis_tlast <= last;
                end
                for (i = 2 * CHANNELS - 1; i > 0; i = i - 1)
                    columns[i] <= columns[i - 1];
                columns[0] <= right;
                if (!beyond) begin
                    above[x] <= low;
                    top[x] <= above[x];
                end
                held <= held + (takes ? 1 : 0) - (sends ? 1 : 0);
                ended <= !last && (ended || (takes && s_axis_tlast));
                x <= x + 1;
                if (x == LINE + CHANNELS - 1) begin
                    x <= 0;
                    first <= 0;
                    second <= first;
                end
                if (last) begin
                    x <= 0;
                    first <= 1;
                    second <= 0;
                end
            end
        end
endmodule
