/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Random calls on streams (stream_random.c).  The processes share a stage, which
 * knows each packet by its number; the words of a packet tell that number, so that
 * a receiver sees which packets its bytes are from.
 */
#ifndef ENGINE_RANDOM_H
#define ENGINE_RANDOM_H

#include <stdatomic.h>

#include "../selftests/node.h"
#include "../selftests/timeline.h"

#define RANDOM_PAIRS 2 /* of a sender and a receiver: channels 2n and 2n + 1 */
#define RANDOM_LANES (2 * RANDOM_PAIRS)
#define RANDOM_PACKETS 65536 /* of a scene */
#define RANDOM_CLAIMS 65536
#define RANDOM_WORDS 4095 /* of a packet */
#define RANDOM_WORD 8u /* bytes */
#define RANDOM_GUARD 0xa5

#define RANDOM_SLOTS 64 /* of a lane's memory */
#define RANDOM_SLOT 1024u /* bytes */
#define RANDOM_AREA (RANDOM_SLOTS * RANDOM_SLOT)
#define RANDOM_MOST 16 /* slots of a submission */

/* Ends of packets; below 0: the sender's errno. */
enum packet_end {
	PACKET_UNKNOWN = 0, /* or of a sender that was killed */
	PACKET_SENT = 1,
};

struct random_packet {
	atomic_int end;
	atomic_bool begun; /* has a receiver seen its first word? */
	uint32_t pair;
};

/*
 * A receiver saw @to behind @from: no packet of the pair between them was sent, and
 * if @from was @cut, nor was that.
 */
struct random_claim {
	uint32_t from;
	uint32_t to;
	bool cut;
};

/* Shared by all processes. */
struct random_stage {
	/* Of all scenes. */
	uint32_t pairs;
	bool drops; /* a stop drops what is in the stream */
	bool pauses; /* nothing comes while the module asks the engine and stops it */
	bool merges; /* packets join in a receive of several pieces */

	/* Of this scene. */
	bool steady; /* nothing stops the engine */
	bool plain; /* each receive has room for a packet, in one piece */
	bool splits, joins; /* the engine may move the ends of packets */
	bool deaf; /* it may write on after a dead channel's end */
	atomic_bool over;
	atomic_uint packets; /* the highest number */
	atomic_uint claims;
	atomic_uint whole; /* packets that came whole */
	struct random_packet packet[RANDOM_PACKETS];
	struct random_claim claim[RANDOM_CLAIMS];
};

/* May a stop lose a packet or its beginning, or send that twice, without an error? */
static inline bool stage_loses(const struct random_stage *stage)
{
	return !stage->pauses && !stage->steady;
}

/* Does each submission of a direction need to be a single piece? */
static inline bool stage_is_plain(const struct random_stage *stage, bool sends)
{
	return stage->plain || (stage->merges && !sends);
}

static inline uint32_t pick(uint64_t *state, uint64_t below)
{
	return (uint32_t)(next_random(state) % below);
}

/* Prints a line that names the place, as a child cannot assert; -1. */
#define FAULT(...) fault_print(__FILE__, __LINE__, __VA_ARGS__)
int fault_print(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Where the words of a packet lie in a part of a buffer. */
struct layout {
	uint32_t count; /* of transfers */
	uint32_t words;
	struct dray_transfer transfers[4];
	struct dray_axis axes[4];
};

/* What a layout may be at most. */
enum shape { ONE_PIECE, ONE_TRANSFER, MANY_TRANSFERS };

/*
 * Picks a layout in @room bytes at @offset of the buffer @fd.  That of a receive in
 * one piece has all of the room.
 */
void layout_pick(struct layout *layout, uint64_t *state, bool sends, int fd,
		 uint64_t offset, uint32_t room, enum shape most);

/* Points the transfers to the layout's own axes, after a copy. */
void layout_tie(struct layout *layout);

/* Calls back for each of the first @words of the layout. */
typedef int (*layout_word)(void *context, uint32_t index, uint64_t *word);
int layout_each(const struct layout *layout, uint8_t *buffer, uint32_t words,
		layout_word call, void *context);

/* Writes a new packet; its number, 0: this scene has none left. */
uint32_t packet_write(struct random_stage *stage, uint32_t pair,
		      const struct layout *layout, uint8_t *buffer);

/* Receivers, in the order of the stream. */
struct receiver {
	struct random_stage *stage;
	uint32_t pair;
	bool lost; /* something went wrong: the next bytes may be of any packet */
	uint32_t number; /* of the packet that came last, 0: none */
	uint32_t words; /* of it */
	uint32_t next; /* index of its next word; 0: it ended */
};

/* Checks what came with status 0; -1 after a line that says what is wrong. */
int receiver_check(struct receiver *receiver, const struct layout *layout,
		   uint8_t *buffer, uint64_t bytes);

/* Checks claims when all senders have ended; the number of wrong ones. */
int claims_check(struct random_stage *stage);

/* A submission, or a frame of a ring. */
struct flight {
	bool busy; /* the engine has it, or will have it */
	uint32_t slot; /* the first */
	uint32_t slots;
	uint32_t packet; /* to send */
	uint64_t deadline_ns; /* 0: none */
	struct layout layout;
};

enum lane_state { LANE_CLOSED, LANE_PACKETS, LANE_RING, LANE_ENDED };

/* A channel, as one process uses it. */
struct lane {
	struct random_stage *stage;
	uint64_t *state; /* of random numbers */
	int node;
	int fd; /* of the buffer */
	uint8_t *buffer;
	uint32_t channel;
	enum lane_state is;
	struct line line;
	uint64_t used; /* bits of slots */
	uint64_t next; /* number of the point to read next */
	uint64_t last; /* number of the last submission */
	struct flight flights[RANDOM_SLOTS]; /* by number, or by frame */
	uint32_t frames; /* of a ring */
	uint32_t flags; /* of a ring, else 0 */
	struct receiver receiver;
};

static inline bool lane_sends(const struct lane *lane)
{
	return lane->channel % 2 == 0;
}

/*
 * Each does something and returns 0, -ENODEV: the node is gone, -EIO: the channel
 * is dead, or -1 after a line that says what is wrong.
 */
int lane_open(struct lane *lane);
int lane_submit(struct lane *lane, int *fence, int in_fence);
int lane_reap(struct lane *lane);
int lane_wait(struct lane *lane, uint64_t until_ns);
int lane_cancel(struct lane *lane, uint32_t channel, uint64_t point, int fence);
int lane_close(struct lane *lane);

/* Waits until all submissions have ended, as the node, or its file, has. */
int lane_end(struct lane *lane, const char *why);

/* The same by deadlines, then by CANCEL. */
int lane_drain(struct lane *lane);

/* Finds slots for a part; false: there is no room. */
bool lane_take(struct lane *lane, uint32_t slots, uint32_t *slot);

/* Notes the end of a flight; the point tells how. */
int lane_settle(struct lane *lane, struct flight *flight,
		const struct dray_point *point);

/* Looks at the memory of a part that nothing may have written. */
uint8_t *lane_part(const struct lane *lane, uint32_t slot);
int lane_check_guards(const struct lane *lane, uint32_t slot, uint32_t slots);

/* Returns a call's result if it is 0 or in the list, which ends with 0. */
int lane_expect(const struct lane *lane, const char *call, int ret,
		const int *allowed);

/* Rings; as above. */
static inline bool ring_overwrites(const struct lane *lane)
{
	return lane->flags & DRAY_RING_OVERWRITE;
}

int ring_begin(struct lane *lane);
int ring_release(struct lane *lane);
int ring_reap(struct lane *lane);
int ring_away(struct lane *lane);
int ring_end(struct lane *lane);
int ring_drain(struct lane *lane);

/* A process that makes random calls until the scene is over; its exit status. */
struct random_worker {
	struct random_stage *stage;
	uint64_t seed;
};

int worker_main(void *worker);

#endif
