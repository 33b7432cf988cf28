// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The structures of include/dray/array/arrow.h are those of the published arrow/c/abi.h,
 * which the suite takes from the wheel of pyarrow.  Both have the same names: those of
 * the published header are changed.  A constant with another value does not compile.
 */
#define ArrowSchema PublishedSchema
#define ArrowArray PublishedArray
#define ArrowDeviceArray PublishedDeviceArray
#include <arrow/c/abi.h>
#undef ArrowSchema
#undef ArrowArray
#undef ArrowDeviceArray
#undef ARROW_C_DATA_INTERFACE
#undef ARROW_C_DEVICE_DATA_INTERFACE
#include <dray/array/arrow.h>

#include <stddef.h>

#define SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #ours)
#define MEMBER(ours, theirs, name)                                       \
	_Static_assert(offsetof(ours, name) == offsetof(theirs, name) && \
			       sizeof(((ours *)0)->name) ==              \
				       sizeof(((theirs *)0)->name),      \
		       #ours " " #name)

#ifndef ARROW_C_DATA_INTERFACE
#error "the guard of the data interface has another name"
#endif
#ifndef ARROW_C_DEVICE_DATA_INTERFACE
#error "the guard of the device interface has another name"
#endif

SIZE(struct ArrowSchema, struct PublishedSchema);
MEMBER(struct ArrowSchema, struct PublishedSchema, format);
MEMBER(struct ArrowSchema, struct PublishedSchema, name);
MEMBER(struct ArrowSchema, struct PublishedSchema, metadata);
MEMBER(struct ArrowSchema, struct PublishedSchema, flags);
MEMBER(struct ArrowSchema, struct PublishedSchema, n_children);
MEMBER(struct ArrowSchema, struct PublishedSchema, children);
MEMBER(struct ArrowSchema, struct PublishedSchema, dictionary);
MEMBER(struct ArrowSchema, struct PublishedSchema, release);
MEMBER(struct ArrowSchema, struct PublishedSchema, private_data);

SIZE(struct ArrowArray, struct PublishedArray);
MEMBER(struct ArrowArray, struct PublishedArray, length);
MEMBER(struct ArrowArray, struct PublishedArray, null_count);
MEMBER(struct ArrowArray, struct PublishedArray, offset);
MEMBER(struct ArrowArray, struct PublishedArray, n_buffers);
MEMBER(struct ArrowArray, struct PublishedArray, n_children);
MEMBER(struct ArrowArray, struct PublishedArray, buffers);
MEMBER(struct ArrowArray, struct PublishedArray, children);
MEMBER(struct ArrowArray, struct PublishedArray, dictionary);
MEMBER(struct ArrowArray, struct PublishedArray, release);
MEMBER(struct ArrowArray, struct PublishedArray, private_data);

SIZE(struct ArrowDeviceArray, struct PublishedDeviceArray);
MEMBER(struct ArrowDeviceArray, struct PublishedDeviceArray, array);
MEMBER(struct ArrowDeviceArray, struct PublishedDeviceArray, device_id);
MEMBER(struct ArrowDeviceArray, struct PublishedDeviceArray, device_type);
MEMBER(struct ArrowDeviceArray, struct PublishedDeviceArray, sync_event);
MEMBER(struct ArrowDeviceArray, struct PublishedDeviceArray, reserved);

int main(void)
{
	return 0;
}
