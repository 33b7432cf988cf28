// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Packets whose words tell their number, their place and the packet's length, and
 * receivers that check the order of such words; see random.h.
 */
#include "random.h"

int fault_print(const char *file, int line, const char *format, ...)
{
	char text[256];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	fprintf(stderr, "# %s:%d: %s\n", file, line, text);
	return -1;
}

struct word {
	uint32_t number;
	uint32_t index;
	uint32_t words;
};

static uint8_t word_sum(uint64_t bits)
{
	uint8_t sum = 0x5a;

	for (; bits; bits >>= 8)
		sum = (uint8_t)(sum * 31 + (uint8_t)bits);
	return sum;
}

static uint64_t word_of(const struct word *word)
{
	uint64_t bits =
		(uint64_t)word->number << 24 | word->index << 12 | word->words;

	return bits << 8 | word_sum(bits);
}

static bool word_read(uint64_t bits, struct word *word)
{
	*word = (struct word){
		.number = (uint32_t)(bits >> 32),
		.index = bits >> 20 & 0xfff,
		.words = bits >> 8 & 0xfff,
	};
	return (uint8_t)bits == word_sum(bits >> 8) &&
	       word->index < word->words && word->number &&
	       word->number < RANDOM_PACKETS;
}

void layout_tie(struct layout *layout)
{
	for (uint32_t i = 0; i < layout->count; i++)
		layout->transfers[i].axes = (uintptr_t)&layout->axes[i];
}

/* Rows of up to @room bytes; what they cover with the gaps between them. */
static uint32_t layout_add(struct layout *layout, uint64_t *state, bool sends,
			   int fd, uint64_t at, uint32_t room, enum shape most)
{
	struct dray_transfer *transfer = &layout->transfers[layout->count];
	struct dray_axis *axis = &layout->axes[layout->count];
	uint32_t rows =
		most == ONE_PIECE || pick(state, 2) ? 1 : 1 + pick(state, 6);
	uint32_t pitch = room / rows / RANDOM_WORD, gap = 0;

	if (!pitch)
		return 0;
	if (rows > 1 && pitch > 1)
		gap = pick(state, pitch < 4 ? pitch : 4);
	*transfer = (struct dray_transfer)SEND_OF(fd, 0, 0, .axes_count = 1);
	if (!sends)
		*transfer = (struct dray_transfer)RECV_OF(fd, 0, 0,
							  .axes_count = 1);
	*(sends ? &transfer->src_offset : &transfer->dst_offset) = at;
	transfer->run = (uint64_t)(pitch - gap) * RANDOM_WORD;
	*axis = (struct dray_axis){ .count = rows };
	*(sends ? &axis->src_stride : &axis->dst_stride) =
		(int64_t)pitch * RANDOM_WORD;
	layout->count++;
	layout->words += rows * (pitch - gap);
	return rows * pitch * RANDOM_WORD;
}

void layout_pick(struct layout *layout, uint64_t *state, bool sends, int fd,
		 uint64_t offset, uint32_t room, enum shape most)
{
	uint32_t at = RANDOM_WORD * pick(state, 4), part, count;

	*layout = (struct layout){ 0 };
	count = most != MANY_TRANSFERS || pick(state, 2) ? 1
							 : 1 + pick(state, 4);
	while (layout->count < count) {
		part = (room - at - RANDOM_WORD) / (count - layout->count);
		if (sends || most != ONE_PIECE)
			part = RANDOM_WORD + pick(state, part);
		at += layout_add(layout, state, sends, fd, offset + at, part,
				 most) +
		      RANDOM_WORD * pick(state, 2);
	}
	layout_tie(layout);
}

int layout_each(const struct layout *layout, uint8_t *buffer, uint32_t words,
		layout_word call, void *context)
{
	uint32_t index = 0;
	int ret = 0;

	for (uint32_t i = 0; i < layout->count; i++) {
		const struct dray_transfer *transfer = &layout->transfers[i];
		bool sends = transfer->op == DRAY_OP_SEND;
		const struct dray_axis *axis = &layout->axes[i];
		int64_t stride = sends ? axis->src_stride : axis->dst_stride;
		uint8_t *row = buffer + (sends ? transfer->src_offset
					       : transfer->dst_offset);

		for (uint64_t k = 0; k < axis->count; k++, row += stride)
			for (uint64_t at = 0; at < transfer->run && !ret;
			     at += RANDOM_WORD) {
				if (index == words)
					return 0;
				ret = call(context, index++,
					   (uint64_t *)(void *)(row + at));
			}
	}
	return ret;
}

static int packet_word(void *context, uint32_t index, uint64_t *word)
{
	struct word *next = context;

	next->index = index;
	*word = word_of(next);
	return 0;
}

uint32_t packet_write(struct random_stage *stage, uint32_t pair,
		      const struct layout *layout, uint8_t *buffer)
{
	struct word word = { .words = layout->words };

	word.number = atomic_fetch_add(&stage->packets, 1) + 1;
	if (word.number >= RANDOM_PACKETS) {
		atomic_store(&stage->over, true);
		return 0;
	}
	stage->packet[word.number].pair = pair;
	layout_each(layout, buffer, layout->words, packet_word, &word);
	return word.number;
}

static void receiver_claim(struct receiver *receiver, uint32_t to, bool cut)
{
	struct random_stage *stage = receiver->stage;
	uint32_t i = atomic_fetch_add(&stage->claims, 1);

	if (i < RANDOM_CLAIMS)
		stage->claim[i] = (struct random_claim){
			.from = receiver->number, .to = to, .cut = cut
		};
}

/* The first word of a packet, behind all of another one or a part of it. */
static int receiver_begin(struct receiver *receiver, const struct word *word)
{
	struct random_packet *packet = &receiver->stage->packet[word->number];
	bool loses = stage_loses(receiver->stage);

	/* A sender that had begun unseen begins again. */
	if (word->number < receiver->number ||
	    (word->number == receiver->number && !loses))
		return FAULT("packet %u came behind packet %u", word->number,
			     receiver->number);
	if (packet->pair != receiver->pair)
		return FAULT("packet %u of pair %u came to pair %u",
			     word->number, packet->pair, receiver->pair);
	if (atomic_exchange(&packet->begun, true) && !loses)
		return FAULT("packet %u came twice", word->number);
	if (receiver->number && !receiver->lost && !loses)
		receiver_claim(receiver, word->number, receiver->next != 0);
	return 0;
}

/* What a receiver finds in one submission. */
struct look {
	struct receiver *receiver;
	bool first; /* word of it */
};

static int receiver_word(void *context, uint32_t at, uint64_t *bits)
{
	struct look *look = context;
	struct receiver *receiver = look->receiver;
	struct word word;
	int ret = 0;

	if (!word_read(*bits, &word))
		return FAULT("word %u, %016" PRIx64 ", is of no packet; the "
			     "last one was %u of packet %u of %u words",
			     at, *bits, receiver->next, receiver->number,
			     receiver->words);
	if (!at && word.index &&
	    (receiver->lost || stage_loses(receiver->stage))) {
		if (word.number < receiver->number)
			return FAULT("packet %u goes on behind packet %u",
				     word.number, receiver->number);
	} else if (word.index) {
		if (word.number != receiver->number ||
		    word.index != receiver->next)
			return FAULT("word %u is %u of packet %u, behind %u of "
				     "packet %u",
				     at, word.index, word.number,
				     receiver->next, receiver->number);
	} else {
		if (at && !receiver->next && !receiver->stage->joins)
			return FAULT("packet %u follows packet %u in one "
				     "submission",
				     word.number, receiver->number);
		ret = receiver_begin(receiver, &word);
	}
	receiver->lost = false;
	receiver->number = word.number;
	receiver->words = word.words;
	receiver->next = word.index + 1 == word.words ? 0 : word.index + 1;
	if (!receiver->next)
		atomic_fetch_add(&receiver->stage->whole, 1);
	return ret;
}

int receiver_check(struct receiver *receiver, const struct layout *layout,
		   uint8_t *buffer, uint64_t bytes)
{
	struct look look = { .receiver = receiver };
	uint32_t words = (uint32_t)(bytes / RANDOM_WORD);

	if (!bytes || bytes % RANDOM_WORD || words > layout->words)
		return FAULT("%" PRIu64 " bytes came, of %u", bytes,
			     layout->words * RANDOM_WORD);
	if (layout_each(layout, buffer, words, receiver_word, &look))
		return -1;
	if (receiver->next && words < layout->words && !receiver->stage->splits)
		return FAULT("a submission of %u words ended with word %u of "
			     "packet %u, before its end",
			     layout->words, receiver->next - 1,
			     receiver->number);
	return 0;
}

int claims_check(struct random_stage *stage)
{
	uint32_t count = atomic_load(&stage->claims), wrong = 0;

	for (uint32_t i = 0; i < count && i < RANDOM_CLAIMS; i++) {
		const struct random_claim *claim = &stage->claim[i];

		/* Its process was killed. */
		if (!claim->from)
			continue;
		for (uint32_t k = claim->from + !claim->cut; k < claim->to; k++)
			if (stage->packet[k].pair ==
				    stage->packet[claim->to].pair &&
			    stage->packet[k].end == PACKET_SENT &&
			    !(stage->drops && !stage->steady)) {
				FAULT("packet %u was sent, but came %s: %u "
				      "followed %u",
				      k, k == claim->from ? "in part" : "never",
				      claim->to, claim->from);
				wrong++;
			}
	}
	return (int)wrong;
}
