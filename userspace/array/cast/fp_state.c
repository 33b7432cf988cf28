// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The floating-point state of each thread, and the words for its errors.  A
 * warning without a function is printed once for each function and error, of
 * which a table remembers the first thousand.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "private.h"
#include "cast/options.h"
#include "cast/fp_state.h"

#define LEAST_BUFFER 16
#define MOST_BUFFER (1 << 24)
#define WARNINGS 1024u

static const struct dray_fp_state fresh = {
	.size = sizeof(fresh),
	.divide = DRAY_FP_WARN,
	.over = DRAY_FP_WARN,
	.under = DRAY_FP_IGNORE,
	.invalid = DRAY_FP_WARN,
	.buffer_size = 8192,
};

/* A state in few bytes, since those of a thread are scarce. */
static _Thread_local struct {
	uint8_t divide, over, under, invalid;
	uint32_t buffer_size;
	void (*call)(void *context, const char *sentence, unsigned int error,
		     unsigned int errors);
	void *context;
} own __attribute__((tls_model("initial-exec"))) = {
	.divide = DRAY_FP_WARN,
	.over = DRAY_FP_WARN,
	.under = DRAY_FP_IGNORE,
	.invalid = DRAY_FP_WARN,
	.buffer_size = 8192,
};

/* In the order in which they are reported. */
static const struct {
	unsigned int error;
	int flag;
	const char *name;
} errors_known[] = {
	{ DRAY_FP_DIVIDE, FE_DIVBYZERO, "divide by zero" },
	{ DRAY_FP_OVER, FE_OVERFLOW, "overflow" },
	{ DRAY_FP_UNDER, FE_UNDERFLOW, "underflow" },
	{ DRAY_FP_INVALID, FE_INVALID, "invalid value" },
};

#define ERRORS (sizeof(errors_known) / sizeof(errors_known[0]))

static enum dray_fp_action state_action_of(const struct dray_fp_state *state,
					   size_t error)
{
	const uint8_t actions[] = { state->divide, state->over, state->under,
				    state->invalid };

	return (enum dray_fp_action)actions[error];
}

static struct dray_fp_state state_of_thread(void)
{
	return (struct dray_fp_state){
		.size = sizeof(struct dray_fp_state),
		.divide = own.divide,
		.over = own.over,
		.under = own.under,
		.invalid = own.invalid,
		.buffer_size = own.buffer_size,
		.call = own.call,
		.context = own.context,
	};
}

void dray_get_fp_state(struct dray_fp_state *out)
{
	const struct dray_fp_state state = state_of_thread();
	int ret;

	if (!dray_given(out, __func__))
		return;
	ret = DRAY_WRITE_RESULT(out, &state, DRAY_FP_STATE_SIZE_FIRST);
	if (ret)
		errno = -ret;
}

int dray_set_fp_state(const struct dray_fp_state *state)
{
	struct dray_fp_state known;
	size_t i;
	int ret;

	if (!state) {
		state = &fresh;
	} else if (!DRAY_OPTIONS_ARE_KNOWN(state)) {
		ret = DRAY_READ_OPTIONS(&known, state,
					DRAY_FP_STATE_SIZE_FIRST);
		if (ret)
			return ret;
		state = &known;
	}
	for (i = 0; i < ERRORS; i++)
		if (state_action_of(state, i) > DRAY_FP_PRINT)
			return dray_fail(
				-EINVAL,
				"there is no action %d on a floating-point error: they are 0 to %d",
				(int)state_action_of(state, i), DRAY_FP_PRINT);
	if (state->buffer_size < LEAST_BUFFER ||
	    state->buffer_size > MOST_BUFFER)
		return dray_fail(-EINVAL,
				 "a buffer has %d to %d elements, not %" PRId64,
				 LEAST_BUFFER, MOST_BUFFER, state->buffer_size);
	own.divide = state->divide;
	own.over = state->over;
	own.under = state->under;
	own.invalid = state->invalid;
	own.buffer_size = (uint32_t)state->buffer_size;
	own.call = state->call;
	own.context = state->context;
	return 0;
}

int64_t dray_fp_buffer_size(void)
{
	return own.buffer_size;
}

unsigned int dray_fp_take_raised(void)
{
	const int flags = fetestexcept(DRAY_FP_FLAGS);
	unsigned int errors = 0;
	size_t i;

	for (i = 0; i < ERRORS; i++)
		if (flags & errors_known[i].flag)
			errors |= errors_known[i].error;
	feclearexcept(DRAY_FP_FLAGS);
	return errors;
}

unsigned int dray_fp_raised(void)
{
	const struct dray_fp_state state = state_of_thread();
	unsigned int errors = 0;
	size_t i;

	for (i = 0; i < ERRORS; i++)
		if (state_action_of(&state, i) == DRAY_FP_RAISE)
			errors |= errors_known[i].error;
	return errors;
}

/* Whether a warning is the first one with these words. */
static bool is_new(const char *sentence)
{
	static uint64_t seen[WARNINGS];
	uint64_t hash = UINT64_C(0xcbf29ce484222325), was;
	size_t at, i;

	for (; *sentence; sentence++)
		hash = (hash ^ (unsigned char)*sentence) *
		       UINT64_C(0x100000001b3);
	hash |= 1; /* 0 is an empty place */
	for (i = 0, at = (size_t)(hash >> 32); i < WARNINGS; i++, at++) {
		was = 0;
		if (__atomic_compare_exchange_n(&seen[at % WARNINGS], &was,
						hash, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
		if (was == hash)
			return false;
	}
	return false;
}

static void fp_state_print(const char *kind, const char *sentence)
{
	DRAY_NO_CANCEL;

	fprintf(stderr, "dray: %s: %s\n", kind, sentence);
}

/* Acts on one error; @state is a copy, which a function may set anew. */
static int fp_state_act(const struct dray_fp_state *state, size_t error,
			const char *name, unsigned int errors)
{
	const enum dray_fp_action action = state_action_of(state, error);
	char sentence[128];

	if (action == DRAY_FP_IGNORE)
		return 0;
	snprintf(sentence, sizeof(sentence), "%s encountered in %.64s",
		 errors_known[error].name, name);
	if (action == DRAY_FP_RAISE)
		return dray_fail(-EDOM, "%s", sentence);
	if (action == DRAY_FP_PRINT)
		fp_state_print("error", sentence);
	else if (state->call)
		state->call(state->context, sentence, errors_known[error].error,
			    errors);
	else if (action == DRAY_FP_WARN && is_new(sentence))
		fp_state_print("warning", sentence);
	return 0;
}

int dray_fp_report(const char *name, unsigned int errors)
{
	const struct dray_fp_state state = state_of_thread();
	size_t i;
	int ret = 0;

	for (i = 0; i < ERRORS && !ret; i++)
		if (errors & errors_known[i].error)
			ret = fp_state_act(&state, i, name, errors);
	return ret;
}
