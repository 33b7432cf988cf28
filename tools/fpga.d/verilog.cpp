// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The frame of an IP core in Verilog.  Verilator makes the class Ip of its module;
 * this turns messages of stream.h into beats of its streams s_axis and m_axis, and
 * back.
 *
 * The clock runs fast while something moves, and a thousand cycles a millisecond
 * while nothing does.  TVALID and TREADY pause at random, so that an IP that ignores
 * them fails here, not only on the board.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "Ip.h"

extern "C" {
#include "control.h"
#include "ip.h"
#include "stream.h"
}

#define FIFO 4096 /* bytes that wait for the board */
#define WIDEST 128 /* bytes of a beat */
#define BATCH 1000 /* cycles between two looks at the messages */
#define IDLE 5 /* batches in which nothing moves, before the clock is slow */

static Ip core;

/* The memory of a port.  A missing one reads as bytes of @value. */
#define PORT(port, value) [](auto &ip) -> uint8_t * { \
	static uint8_t none[WIDEST]; \
	if constexpr (requires { ip.port; }) \
		return (uint8_t *)&ip.port; \
	memset(none, value, sizeof(none)); \
	return none; \
}(core)

#define WIDTH(port) [](auto &ip) -> size_t { \
	if constexpr (requires { ip.port; }) \
		return sizeof(ip.port); \
	return 4; \
}(core)

static const struct {
	size_t width;
	uint8_t *tdata, *tkeep, *tlast, *tvalid, *tready;
} s = { WIDTH(s_axis_tdata), PORT(s_axis_tdata, 0), PORT(s_axis_tkeep, 0),
	PORT(s_axis_tlast, 0), PORT(s_axis_tvalid, 0), PORT(s_axis_tready, 1) },
  m = { WIDTH(m_axis_tdata), PORT(m_axis_tdata, 0), PORT(m_axis_tkeep, 255),
	PORT(m_axis_tlast, 0), PORT(m_axis_tvalid, 0), PORT(m_axis_tready, 0) };

/* Bytes of a packet; @last: it ends with them. */
static struct {
	uint8_t bytes[FPGA_PIECE + WIDEST];
	size_t start, end;
	bool last;
} in;

static struct {
	uint8_t bytes[FIFO];
	size_t size;
	bool last;
	bool begun; /* a packet, whose end is still to come */
	bool held; /* a packet had to wait */
} out;

/*
 * The AXI4-Lite port of the IP's registers.  Its master is this frame: the registers
 * of the board are plain memory, so changed words are written to the IP, and each word
 * is read from it between two batches.
 */
static const struct {
	size_t width; /* bytes of an address */
	uint8_t *aresetn;
	uint8_t *awaddr, *awvalid, *awready, *wdata, *wstrb, *wvalid, *wready;
	uint8_t *bvalid, *bready;
	uint8_t *araddr, *arvalid, *arready, *rdata, *rvalid, *rready;
} bus = { WIDTH(s_axi_awaddr), PORT(s_axi_aresetn, 0), PORT(s_axi_awaddr, 0),
	  PORT(s_axi_awvalid, 0), PORT(s_axi_awready, 0), PORT(s_axi_wdata, 0),
	  PORT(s_axi_wstrb, 0), PORT(s_axi_wvalid, 0), PORT(s_axi_wready, 0),
	  PORT(s_axi_bvalid, 0), PORT(s_axi_bready, 0), PORT(s_axi_araddr, 0),
	  PORT(s_axi_arvalid, 0), PORT(s_axi_arready, 0), PORT(s_axi_rdata, 0),
	  PORT(s_axi_rvalid, 0), PORT(s_axi_rready, 0) };

/* Verilator renames it, as SystemC reserves the word. */
static uint8_t *const interrupt = PORT(__SYM__interrupt, 0);

extern "C" const unsigned int ip_words; /* registers of the port; 0: there is none */

static struct {
	uint32_t known[FPGA_REGISTERS_SIZE / 4]; /* the IP and the board agree on it */
	uint32_t value; /* that was read */
	bool done; /* the present access */
} bus_state;

/* Looks at the port before the clock's edge, and moves it behind the edge. */
class Bus {
	bool aw = *bus.awvalid && *bus.awready;
	bool w = *bus.wvalid && *bus.wready;
	bool b = *bus.bvalid && *bus.bready;
	bool ar = *bus.arvalid && *bus.arready;
	bool r = *bus.rvalid && *bus.rready;

public:
	Bus()
	{
		if (r)
			memcpy(&bus_state.value, bus.rdata, 4);
		bus_state.done |= b || r;
	}
	~Bus()
	{
		if (aw)
			*bus.awvalid = 0;
		if (w)
			*bus.wvalid = 0;
		if (ar)
			*bus.arvalid = 0;
		if (b)
			*bus.bready = 0;
		if (r)
			*bus.rready = 0;
	}
};

static bool pauses()
{
	static uint32_t state = 2463534242;

	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % 8 == 0;
}

static bool has_beat()
{
	size_t size = in.end - in.start;

	return size >= s.width || (size && in.last);
}

/* Offers a beat, which stays until the IP takes it. */
static void offer()
{
	size_t size = std::min(in.end - in.start, s.width), i;

	if (*s.tvalid || !has_beat() || pauses())
		return;
	memcpy(s.tdata, in.bytes + in.start, size);
	memset(s.tkeep, 0, (s.width + 7) / 8);
	for (i = 0; i < size; i++)
		s.tkeep[i / 8] |= (uint8_t)(1 << i % 8);
	in.start += size;
	*s.tlast = in.last && in.start == in.end;
	*s.tvalid = 1;
}

static bool has_room()
{
	return !out.last && out.size + m.width <= FIFO;
}

static void flush()
{
	if ((!out.size && !out.last) || !ip_ready())
		return;
	ip_send(out.bytes, out.size, out.last);
	if (out.held)
		ip_held();
	out.size = 0;
	out.last = out.held = false;
}

static void collect()
{
	for (size_t i = 0; i < m.width; i++)
		if (m.tkeep[i / 8] >> i % 8 & 1)
			out.bytes[out.size++] = m.tdata[i];
	out.last = *m.tlast;
	out.begun = !out.last;
	if (!has_room())
		flush();
}

/* Ends the program if the IP withdraws or changes a beat that was not taken. */
static void check_beat()
{
	static uint8_t tdata[WIDEST], tlast;
	static bool waits;

	if (waits && core.aresetn &&
	    (!*m.tvalid || *m.tlast != tlast ||
	     memcmp(m.tdata, tdata, m.width))) {
		fprintf(stderr, "the IP %s before TREADY: AXI4-Stream forbids it\n",
			*m.tvalid ? "changed TDATA or TLAST" : "withdrew TVALID");
		exit(1);
	}
	waits = *m.tvalid && !*m.tready;
	memcpy(tdata, m.tdata, m.width);
	tlast = *m.tlast;
}

/* Returns true if a beat moved. */
static bool cycle()
{
	static bool asked;
	bool taken, given;

	core.aclk = 0;
	core.eval();
	if (*interrupt && !asked)
		ip_interrupt();
	asked = *interrupt;
	Bus edge;
	check_beat();
	taken = *s.tvalid && *s.tready;
	given = *m.tvalid && *m.tready;
	if (given)
		collect();
	else if (*m.tvalid && !out.begun && !has_room())
		out.held = true;
	core.aclk = 1;
	core.eval();
	if (taken)
		*s.tvalid = 0;
	return taken || given;
}

/*
 * Waits for the end of an access that was put on the port.  No beat is offered
 * meanwhile: a packet finds all words that the board wrote before it.
 */
static void bus_wait(const char *action, unsigned int word)
{
	bus_state.done = false;
	for (int i = 0; !bus_state.done; i++) {
		if (i == BATCH) {
			fprintf(stderr, "the IP does not answer a %s of its register 0x%x\n",
				action, word * 4);
			exit(1);
		}
		*m.tready = has_room() && !pauses();
		cycle();
	}
}

static void bus_write(unsigned int word, uint32_t value)
{
	unsigned int address = word * 4;

	memcpy(bus.awaddr, &address, bus.width);
	memcpy(bus.wdata, &value, 4);
	*bus.wstrb = 15;
	*bus.awvalid = *bus.wvalid = *bus.bready = 1;
	bus_wait("write", word);
}

static uint32_t bus_read(unsigned int word)
{
	unsigned int address = word * 4;

	memcpy(bus.araddr, &address, bus.width);
	*bus.arvalid = *bus.rready = 1;
	bus_wait("read", word);
	return bus_state.value;
}

/* Writes what the board changed, and shows the board what the IP changed. */
static void exchange_registers()
{
	uint32_t *board, value;

	if (!ip_words)
		return;
	board = (uint32_t *)ip_registers();
	for (unsigned int i = 0; i < ip_words; i++) {
		value = __atomic_load_n(&board[i], __ATOMIC_ACQUIRE);
		if (value != bus_state.known[i])
			bus_write(i, value);
		bus_state.known[i] = bus_read(i);
		/* A word that the board changes meanwhile is written next time. */
		__atomic_compare_exchange_n(&board[i], &value,
					    bus_state.known[i], false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
}

/* The board's words are the IP's at the start. */
static void preset_registers()
{
	*bus.aresetn = 1;
	for (unsigned int i = 0; i < ip_words; i++)
		ip_registers()[i] = bus_state.known[i] = bus_read(i);
}

void ip_receive(uint8_t *bytes, size_t length, bool last)
{
	in.end -= in.start;
	memmove(in.bytes, in.bytes + in.start, in.end);
	memcpy(in.bytes + in.end, bytes, length);
	in.start = 0;
	in.end += length;
	in.last = last;
}

void ip_reset()
{
	in.start = in.end = out.size = 0;
	in.last = out.last = out.begun = out.held = false;
	*s.tvalid = *m.tready = 0;
	core.aresetn = 0;
	for (int i = 0; i < 16; i++)
		cycle();
	core.aresetn = 1;
}

int main(int argc, char **argv)
{
	unsigned int idle = 0;

	Verilated::commandArgs(argc, argv);
	ip_open();
	ip_keep_short(FIFO);
	ip_reset();
	preset_registers();
	while (!Verilated::gotFinish()) {
		bool moved = false;

		if (!has_beat())
			ip_serve(idle > IDLE);
		else if (idle > IDLE)
			usleep(1000);
		exchange_registers();
		for (int i = 0; i < BATCH; i++) {
			offer();
			*m.tready = has_room() && !pauses();
			moved |= cycle();
		}
		flush();
		idle = moved ? 0 : idle + 1;
	}
	fprintf(stderr, "the IP called $finish\n");
	return 1;
}
