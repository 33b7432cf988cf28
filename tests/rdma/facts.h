/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef TESTS_RDMA_FACTS_H
#define TESTS_RDMA_FACTS_H

#include "views.h"

extern const struct fact message_facts[];
extern const struct fact ticket_facts[];
extern const struct fact death_facts[];
extern const struct fact module_facts[]; /* of the module's memory and engines */
extern const struct fact machine_facts[]; /* of two machines */

#endif
