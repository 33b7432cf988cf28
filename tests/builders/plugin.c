// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loads a memory manager that does not exist, and prints why it cannot.
 */
#include <stdio.h>

#include <dray/dray.h>

int main(void)
{
	const struct dray_manager_ops *ops;

	if (!dray_manager_load("absent", &ops))
		return 1;
	printf("%s\n", dray_last_error());
	return 0;
}
