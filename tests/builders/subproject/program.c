// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A user's program in a project that builds dray itself.
 */
#include <stdio.h>

#include <dray/array.h>

int main(void)
{
	printf("%s\n", dray_version());
	return dray_array_handler(NULL) != NULL;
}
