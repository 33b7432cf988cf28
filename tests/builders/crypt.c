// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A program that uses the C library's <crypt.h>, a name that minizip has as well.
 */
#define _GNU_SOURCE
#include <crypt.h>

#include <dray/dray.h>

int main(void)
{
	struct crypt_data data = { 0 };

	return !crypt_r("a", "$6$saltsalt$", &data);
}
