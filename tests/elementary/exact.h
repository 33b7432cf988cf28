/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The exact functions, by MPFR, and the arguments to try. */
#ifndef DRAY_TESTS_EXACT_H
#define DRAY_TESTS_EXACT_H

#include <mpfr.h>

/* More than twice the digits of a double. */
#define PRECISION 160

struct exact {
	const char *name; /* NumPy's */
	int (*of_one)(mpfr_t out, const mpfr_t x, mpfr_rnd_t round);
	int (*of_two)(mpfr_t out, const mpfr_t x, const mpfr_t y,
		      mpfr_rnd_t round);
	/* Besides numbers of random bits, these are tried evenly. */
	double low, high;
};

extern const struct exact exact_functions[];
extern const size_t exact_count;

#endif /* DRAY_TESTS_EXACT_H */
