// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Loans beside queued calls and recorded copies: each order. */
#include <dray/array.h>

#include "same.h"

FACTS_ON(on_host)

#define BOTH (DRAY_ACCESS_READ | DRAY_ACCESS_WRITE)

static const struct dray_loan_options to_mpi = { .size = sizeof(to_mpi),
						 .to = "mpi" };

static struct dray_loan *lend(const struct dray_view *view, unsigned int access)
{
	struct dray_loan *loan = NULL;

	assert_works(dray_view_lend(view, access, 0, &to_mpi, &loan));
	return loan;
}

QUEUE_FACT(a_call_waits_for_loans_of_its_operands)
{
	const struct {
		const struct dray_view *lent;
		unsigned int access;
		bool waits;
	} cases[] = {
		{ &in, DRAY_ACCESS_READ, false },
		{ &in, DRAY_ACCESS_WRITE, true },
		{ &out, DRAY_ACCESS_READ, true },
		{ &out, DRAY_ACCESS_WRITE, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_loan *loan = lend(cases[i].lent, cases[i].access);
		struct dray_event *event;

		assert_works(call(&in, &out, &event));
		if (cases[i].waits) {
			assert_fails(dray_event_wait(event, 20), -ETIME,
				     "under way");
			dray_loan_end(loan);
		}
		assert_works(dray_event_wait(event, DEADLINE * 1000));
		if (!cases[i].waits)
			dray_loan_end(loan);
		dray_event_unref(event);
	}
}

QUEUE_FACT(a_call_that_waits_for_a_loan_can_be_cancelled)
{
	struct dray_loan *loan = lend(&out, BOTH);
	struct dray_event *event;

	assert_works(call(&in, &out, &event));
	assert_works(dray_event_cancel(event));
	assert_fails(dray_event_wait(event, DEADLINE * 1000), -ECANCELED,
		     "cancelled");
	dray_event_unref(event);
	dray_loan_end(loan);
}

/* The call is in the queue: a loan of its operands begins after its end. */
QUEUE_FACT(a_loan_waits_for_queued_calls)
{
	struct dray_loan *first = lend(&in, DRAY_ACCESS_WRITE), *second = NULL;
	struct dray_event *event;

	assert_works(call(&in, &out, &event));
	assert_fails(dray_view_lend(&out, DRAY_ACCESS_READ, 20, NULL, &second),
		     -ETIME, "under way after 20 ms");
	dray_loan_end(first);
	assert_works(dray_view_lend(&out, DRAY_ACCESS_READ, DEADLINE * 1000,
				    NULL, &second));
	assert_int_equal(dray_event_status(event), 1);
	dray_loan_end(second);
	dray_event_unref(event);
}
