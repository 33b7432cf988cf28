// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of a node.  A structure is copied by the size that the caller
 * knows.  Fields that an older caller does not know are zero; fields that only
 * a newer caller knows must be zero.  The reply is copied out on failure, too,
 * as it names the reason.  A file descriptor is installed only after that copy.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/stddef.h>
#include <linux/uaccess.h>

#include "base/node.h"
#include "base/reply.h"
#include "memory/trace.h"
#include "calls.h"
#include "ioctl.h"

struct dray_ioctl_entry {
	unsigned int command;
	unsigned int first_size; /* bytes, of its first version */
	int (*run)(struct dray_opener *opener, void *data,
		   struct dray_reply *reply);
	/* Offset of the reply's reason, in bytes; 0: without a reason. */
	unsigned int reason;
	unsigned int limit;
};

/*
 * @last is the last field of the call's first version; a smaller structure was
 * never valid.  It stays the same when the structure grows.
 */
#define DRAY_CALL(name, NAME, last)                                  \
	[_IOC_NR(DRAY_IOC_##NAME)] = {                               \
		.command = DRAY_IOC_##NAME,                          \
		.first_size = offsetofend(struct dray_##name, last), \
		.run = dray_##name##_call,                           \
	}

/* A call with the reason of a refusal in its reply. */
#define DRAY_CALL_REFUSING(name, NAME, last)                         \
	[_IOC_NR(DRAY_IOC_##NAME)] = {                               \
		.command = DRAY_IOC_##NAME,                          \
		.first_size = offsetofend(struct dray_##name, last), \
		.run = dray_##name##_call,                           \
		.reason = offsetof(struct dray_##name, reason),      \
		.limit = offsetof(struct dray_##name, limit),        \
	}

static const struct dray_ioctl_entry dray_calls[] = {
	DRAY_CALL(info, INFO, version),
	DRAY_CALL(heap_info, HEAP_INFO, name),
	DRAY_CALL(channel_info, CHANNEL_INFO, device),
	DRAY_CALL_REFUSING(alloc, ALLOC, limit),
	DRAY_CALL_REFUSING(address, ADDRESS, limit),
	DRAY_CALL_REFUSING(sync, SYNC, reserved),
	DRAY_CALL_REFUSING(submit, SUBMIT, limit),
	DRAY_CALL(list, LIST, count),
	DRAY_CALL(buffer_info, BUFFER_INFO, heap_name),
	DRAY_CALL_REFUSING(export, EXPORT, limit),
	DRAY_CALL_REFUSING(attach, ATTACH, limit),
	DRAY_CALL_REFUSING(cancel, CANCEL, limit),
	DRAY_CALL_REFUSING(reclaim, RECLAIM, limit),
	DRAY_CALL_REFUSING(timeline, TIMELINE, limit),
	DRAY_CALL_REFUSING(heap_map, HEAP_MAP, limit),
	DRAY_CALL_REFUSING(register_area, REGISTER_AREA, limit),
	DRAY_CALL_REFUSING(interrupt_line, INTERRUPT_LINE, limit),
};

union dray_arguments {
	struct dray_info info;
	struct dray_heap_info heap_info;
	struct dray_channel_info channel_info;
	struct dray_alloc alloc;
	struct dray_address address;
	struct dray_sync sync;
	struct dray_submit submit;
	struct dray_list list;
	struct dray_buffer_info buffer_info;
	struct dray_export export;
	struct dray_attach attach;
	struct dray_cancel cancel;
	struct dray_reclaim reclaim;
	struct dray_timeline timeline;
	struct dray_heap_map heap_map;
	struct dray_register_area register_area;
	struct dray_interrupt_line interrupt_line;
};

/* Finds the call of @command for any size of its structure. */
static const struct dray_ioctl_entry *dray_call_of(unsigned int command)
{
	const struct dray_ioctl_entry *call;
	unsigned int number = _IOC_NR(command);

	if (_IOC_TYPE(command) != DRAY_IOC_MAGIC ||
	    number >= ARRAY_SIZE(dray_calls))
		return NULL;
	call = &dray_calls[array_index_nospec(number, ARRAY_SIZE(dray_calls))];
	if (!call->run || _IOC_DIR(command) != _IOC_DIR(call->command))
		return NULL;
	return call;
}

/* Overwrites the caller's values there. */
static void dray_call_tell(const struct dray_ioctl_entry *call, void *arguments,
			   const struct dray_refusal *refusal)
{
	if (!call->reason)
		return;
	*(u32 *)(arguments + call->reason) = refusal->reason;
	*(u64 *)(arguments + call->limit) = refusal->limit;
}

/* Traces a call that failed. */
static void dray_call_failed(const struct dray_ioctl_entry *call,
			     const struct dray_opener *opener,
			     const union dray_arguments *arguments, int error,
			     const struct dray_refusal *refusal)
{
	const struct dray_node *node = opener->node;
	const char *heap = "";
	u64 size = 0;
	u32 index;

	if (call->command == DRAY_IOC_ALLOC) {
		size = arguments->alloc.size;
		index = arguments->alloc.heap;
		if (index < node->heap_count)
			heap = node->heaps[array_index_nospec(index,
							      node->heap_count)]
				       ->name;
	}
	trace_dray_fail(node->name, _IOC_NR(call->command), error,
			refusal->reason, refusal->limit, size, heap);
}

static int dray_call_run(const struct dray_ioctl_entry *call,
			 struct dray_opener *opener, void *arguments,
			 struct dray_reply *reply)
{
	int ret = call->run(opener, arguments, reply);

	dray_call_tell(call, arguments, &reply->refusal);
	if (ret)
		dray_call_failed(call, opener, arguments, ret, &reply->refusal);
	return ret;
}

long dray_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	const struct dray_ioctl_entry *call = dray_call_of(command);
	void __user *user = (void __user *)arg;
	struct dray_reply reply = { .fd = -1 };
	union dray_arguments arguments;
	size_t user_size, size;
	int ret;

	if (!call)
		return -ENOTTY;
	user_size = _IOC_SIZE(command);
	size = _IOC_SIZE(call->command);
	if (user_size < call->first_size)
		return -EINVAL;
	ret = copy_struct_from_user(&arguments, size, user, user_size);
	if (ret)
		return ret;

	ret = dray_call_run(call, file->private_data, &arguments, &reply);
	if (copy_to_user(user, &arguments, min(user_size, size))) {
		dray_reply_undo(&reply);
		return ret ? ret : -EFAULT;
	}
	if (ret)
		dray_reply_undo(&reply);
	else if (reply.file)
		fd_install(reply.fd, reply.file);
	return ret;
}
