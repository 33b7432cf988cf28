// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * loan: memory that another engine uses, a user in the book with a block that is held.
 * It enters when no other user meets it, so it waits for nothing once it is there; users
 * that enter later wait for it.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <dray/loan.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/options.h"
#include "layout/overlap.h"
#include "memory/futex.h"
#include "memory/node.h"
#include "pool/busy.h"
#include "publish/notes.h"
#include "use/use.h"

_Static_assert(DRAY_LOAN_NAME == sizeof(((struct dray_publish_loan *)0)->to),
	       "a snapshot has whole names");

struct dray_loan {
	struct dray_use use;
	struct dray_use_part part;
	_Atomic uint32_t ended; /* changes at the end; threads sleep here */
	bool held; /* location is, by dray_locate_hold() */
	struct dray_location location;
	struct dray_buffer *buffer; /* of a caller, a reference; or NULL */
	char to[DRAY_LOAN_NAME];
};

static int loan_late(const struct dray_loan *loan, int timeout_ms)
{
	if (timeout_ms)
		return dray_fail_as(
			-ETIME, DRAY_FAILURE_LENT,
			"the memory is still lent to %s after %d ms, end the loan first",
			loan->to, timeout_ms);
	return dray_fail_as(-ETIME, DRAY_FAILURE_LENT,
			    "the memory is lent to %s, end the loan first",
			    loan->to);
}

static int loan_wait(struct dray_use *use, const struct dray_use_part *part,
		     int timeout_ms)
{
	struct dray_loan *loan = (void *)use;
	uint64_t until_ns = dray_use_until(timeout_ms);

	(void)part;
	while (!dray_use_has_ended(use)) {
		if (!timeout_ms)
			return loan_late(loan, timeout_ms);
		if (!dray_futex_wait(&loan->ended, 0, until_ns) ||
		    errno == EAGAIN)
			continue;
		if (errno == ETIMEDOUT)
			return loan_late(loan, timeout_ms);
		return dray_fail_as(-errno, DRAY_FAILURE_LENT,
				    "waiting for memory that is lent to %s: %s",
				    loan->to, strerror(errno));
	}
	return 0;
}

static void loan_free_use(struct dray_use *use)
{
	free(use);
}

static const struct dray_use_kind kind = { DRAY_USE_LOAN, loan_wait,
					   loan_free_use };

/* Implements dray_lent_to. */
static bool loan_name(const void *start, uint64_t size, char *to)
{
	const struct dray_use_query query = {
		.writes = { (uintptr_t)start, (uintptr_t)start + (size_t)size },
		.before = UINT64_MAX,
		.sorts = 1 << DRAY_USE_LOAN,
	};
	const struct dray_use_part *part;
	struct dray_use *use = dray_use_find(&query, &part);

	if (!use)
		return false;
	memcpy(to, ((struct dray_loan *)(void *)use)->to, DRAY_LOAN_NAME);
	dray_use_unref(use);
	return true;
}

static int loan_check_options(const struct dray_loan_options *options,
			      unsigned int access)
{
	size_t length = options->to ? strlen(options->to) : 1, i;

	if (!access || access & ~(DRAY_ACCESS_READ | DRAY_ACCESS_WRITE))
		return dray_fail(-EINVAL,
				 "access 0x%x, not DRAY_ACCESS_READ or WRITE",
				 access);
	if (options->flags & ~DRAY_LOAN_DMABUF)
		return dray_fail(-EINVAL, "unknown flags 0x%x of a loan",
				 options->flags & ~DRAY_LOAN_DMABUF);
	if (options->reserved)
		return dray_fail(
			-EINVAL,
			"reserved is 0x%x in the options of a loan, not 0",
			options->reserved);
	if (!length || length >= DRAY_LOAN_NAME)
		return dray_fail(
			-EINVAL,
			"the name of an engine is %zu bytes, not 1 to %d",
			length, DRAY_LOAN_NAME - 1);
	for (i = 0; options->to && options->to[i]; i++)
		if (iscntrl((unsigned char)options->to[i]))
			return dray_fail(
				-EINVAL,
				"byte %zu of an engine's name is the control character 0x%x",
				i, (unsigned char)options->to[i]);
	return 0;
}

/* Whether the engine may use the memory so. */
static int check_access(const struct dray_operand *operand, unsigned int access)
{
	int ret;

	if (access & DRAY_ACCESS_READ && !(operand->view->flags & DRAY_READ))
		return dray_fail(-EPERM, "%s may not be read", operand->name);
	if (!(access & DRAY_ACCESS_WRITE))
		return 0;
	ret = dray_operand_check_writable(operand);
	if (!ret && dray_view_has_bytes(operand->view) &&
	    dray_overlap_self(operand) == DRAY_OVERLAP_SOME)
		return dray_fail(
			-EINVAL,
			"elements of %s share bytes: lend them to read",
			operand->name);
	return ret;
}

static int loan_check_mapped(const struct dray_operand *operand,
			     const struct dray_loan_options *options)
{
	if (options->flags & DRAY_LOAN_DMABUF ||
	    dray_buffer_mapped(operand->location.buffer))
		return 0;
	return dray_fail(
		-EOPNOTSUPP,
		"%s is not mapped for the CPU: only an engine of dma-bufs can use it, by DRAY_LOAN_DMABUF",
		operand->name);
}

/* Holds the memory.  @buffer: of a caller, with bytes in several blocks perhaps, or NULL */
static int loan_hold(struct dray_loan *loan, struct dray_operand *operand,
		     const struct dray_loan_options *options,
		     struct dray_buffer *buffer)
{
	int ret = 0;

	if (!dray_operand_locate(operand, true))
		return 0;
	ret = loan_check_mapped(operand, options);
	if (!ret && dray_operand_check_block(operand)) {
		ret = buffer ? 0 : -EINVAL;
	} else if (!ret) {
		loan->held = operand->held;
		loan->location = operand->location;
		operand->held = false;
	}
	dray_operand_drop(operand);
	return ret;
}

static void loan_release(struct dray_loan *loan)
{
	if (loan->held)
		dray_locate_release(&loan->location);
	loan->held = false;
	dray_buffer_unref(loan->buffer);
	loan->buffer = NULL;
}

/* Makes a loan that is not in the book; NULL: no memory. */
static struct dray_loan *loan_create(const char *to, struct dray_buffer *buffer)
{
	struct dray_loan *loan = calloc(1, sizeof(*loan));

	if (!loan)
		return NULL;
	dray_uses_enlist();
	dray_notes_set_lent(loan_name);
	dray_use_init(&loan->use, &kind);
	loan->buffer = dray_buffer_ref(buffer);
	to = to ? to : "another engine";
	memcpy(loan->to, to, strlen(to) + 1); /* it was measured */
	return loan;
}

static int lend_operand(struct dray_operand *operand,
			struct dray_buffer *buffer, unsigned int access,
			int timeout_ms, const struct dray_loan_options *options,
			struct dray_loan **out)
{
	int ret = check_access(operand, access);
	struct dray_loan *loan;

	if (ret)
		return ret;
	loan = loan_create(options->to, buffer);
	if (!loan)
		return dray_fail(-ENOMEM, "no memory for a loan");
	if (operand->extent.elements)
		ret = loan_hold(loan, operand, options, buffer);
	if (!ret) {
		dray_use_add(&loan->use, &loan->part, operand->span,
			     access & DRAY_ACCESS_WRITE);
		ret = dray_use_enter_alone(&loan->use, 0, timeout_ms);
	}
	if (ret) {
		loan_release(loan);
		dray_use_unref(&loan->use);
		return ret;
	}
	*out = loan;
	return 0;
}

int dray_view_lend(const struct dray_view *view, unsigned int access,
		   int timeout_ms, const struct dray_loan_options *options,
		   struct dray_loan **out)
{
	struct dray_loan_options known;
	struct dray_operand operand;
	int ret;

	if (!dray_given(view, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&known, options, DRAY_LOAN_OPTIONS_SIZE_FIRST);
	if (!ret)
		ret = loan_check_options(&known, access);
	if (!ret)
		ret = dray_operand_init(&operand, view, "the view");
	return ret ? ret
		   : lend_operand(&operand, NULL, access, timeout_ms, &known,
				  out);
}

/* Describes bytes of a buffer. */
static int loan_view_bytes(const struct dray_buffer *buffer, uint64_t offset,
			   uint64_t bytes, struct dray_view *view)
{
	const uint64_t size = dray_buffer_size(buffer);
	const int64_t shape = (int64_t)bytes;
	int ret;

	if (offset > size || bytes > size - offset)
		return dray_fail(-EINVAL,
				 "%" PRIu64 " bytes from %" PRIu64
				 " of a buffer of %" PRIu64
				 "; lend a part of it",
				 bytes, offset, size);
	ret = dray_view_init(view, (char *)dray_buffer_data(buffer) + offset,
			     DRAY_UINT8, 1, &shape, NULL);
	if (!ret && !dray_buffer_writable(buffer))
		view->flags &= ~(unsigned int)DRAY_WRITE;
	return ret;
}

int dray_buffer_lend(struct dray_buffer *buffer, uint64_t offset,
		     uint64_t bytes, unsigned int access, int timeout_ms,
		     const struct dray_loan_options *options,
		     struct dray_loan **out)
{
	struct dray_loan_options known;
	struct dray_operand operand;
	struct dray_view view;
	int ret;

	if (!dray_given(buffer, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&known, options, DRAY_LOAN_OPTIONS_SIZE_FIRST);
	if (!ret)
		ret = loan_check_options(&known, access);
	if (!ret)
		ret = loan_view_bytes(buffer, offset, bytes, &view);
	if (!ret)
		ret = dray_operand_init(&operand, &view, "the buffer");
	return ret ? ret
		   : lend_operand(&operand, buffer, access, timeout_ms, &known,
				  out);
}

void dray_loan_end(struct dray_loan *loan)
{
	if (!loan)
		return;
	atomic_store(&loan->use.status, 1);
	dray_use_leave(&loan->use);
	loan_release(loan);
	/* A thread that waits keeps a reference, and no other finds the loan now. */
	if (atomic_load(&loan->use.references) > 1 &&
	    loan->use.process == dray_fork_process())
		dray_futex_change(&loan->ended);
	dray_use_unref(&loan->use);
}
