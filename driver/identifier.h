/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The buffers by their identifiers.  None of these functions sleeps, and all
 * may be called by several tasks at once; of dray_buffer_resurrect() and
 * dray_buffer_withdraw() only whoever dropped the last reference calls one.
 */
#ifndef DRAY_IDENTIFIER_H
#define DRAY_IDENTIFIER_H

#include <linux/types.h>

struct dray_buffer;

/* Gives a new buffer a number, from 1 on, that no other has ever had. */
void dray_buffer_identify(struct dray_buffer *buffer);

/*
 * From here on the buffer is found by its identifier, and by the end of a
 * node: so it happens inside the node that it has been mapped for.  The caller
 * has a reference, and goes on having it.
 */
void dray_buffer_publish(struct dray_buffer *buffer);

/*
 * Takes a buffer without references from where others find it; false if it
 * never was there.
 */
bool dray_buffer_withdraw(struct dray_buffer *buffer);

/*
 * Two references to a buffer whose last one is gone: one is the caller's, the
 * other is for whoever reclaims it, which may be before this returns.
 */
void dray_buffer_resurrect(struct dray_buffer *buffer);

/* The buffer with @id, with a reference; or NULL. */
struct dray_buffer *dray_buffer_of_id(u64 id);

/*
 * The first buffer above *@id, with a reference, or NULL after the last.  *@id
 * becomes its own identifier, and starts from 0.  What is published meanwhile
 * may be missed.
 */
struct dray_buffer *dray_buffer_next(u64 *id);

#endif /* DRAY_IDENTIFIER_H */
