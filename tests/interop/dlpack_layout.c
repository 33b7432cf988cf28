// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Compares dray's structures of DLPack with the published ones, of a dlpack.h that
 * -I names (<dlpack/dlpack.h>, version 1.3 or later of 1): sizes, offsets, numbers,
 * and types of functions.  All of it is known when this is compiled; run, it tells
 * the version.
 */
#include <stdio.h>

#include <dlpack/dlpack.h>
#include <dray/array/dlpack.h>

#define SAME(ours, theirs) \
	_Static_assert((ours) == (theirs), #ours " is not " #theirs)
#define SAME_SIZE(ours, theirs) SAME(sizeof(ours), sizeof(theirs))
#define SAME_PLACE(ours, theirs, field)                       \
	SAME(offsetof(ours, field), offsetof(theirs, field)); \
	SAME(sizeof(((ours *)0)->field), sizeof(((theirs *)0)->field))

SAME(DRAY_DLPACK_MAJOR, DLPACK_MAJOR_VERSION);
SAME(DRAY_DLPACK_CPU, kDLCPU);
SAME(DRAY_DLPACK_CUDA_HOST, kDLCUDAHost);
SAME(DRAY_DLPACK_ROCM_HOST, kDLROCMHost);
SAME(DRAY_DLPACK_EXT_DEV, kDLExtDev);
SAME(DRAY_DLPACK_CUDA_MANAGED, kDLCUDAManaged);
SAME(DRAY_DLPACK_INT, kDLInt);
SAME(DRAY_DLPACK_UINT, kDLUInt);
SAME(DRAY_DLPACK_FLOAT, kDLFloat);
SAME(DRAY_DLPACK_OPAQUE, kDLOpaqueHandle);
SAME(DRAY_DLPACK_BFLOAT, kDLBfloat);
SAME(DRAY_DLPACK_COMPLEX, kDLComplex);
SAME(DRAY_DLPACK_BOOL, kDLBool);
SAME(DRAY_DLPACK_FLAG_READ_ONLY, DLPACK_FLAG_BITMASK_READ_ONLY);
SAME(DRAY_DLPACK_FLAG_IS_COPIED, DLPACK_FLAG_BITMASK_IS_COPIED);
SAME(DRAY_DLPACK_FLAG_IS_SUBBYTE_TYPE_PADDED,
     DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED);

SAME_SIZE(struct dray_dlpack_version, DLPackVersion);
SAME_PLACE(struct dray_dlpack_version, DLPackVersion, major);
SAME_PLACE(struct dray_dlpack_version, DLPackVersion, minor);

SAME_SIZE(struct dray_dlpack_device, DLDevice);
SAME_PLACE(struct dray_dlpack_device, DLDevice, device_type);
SAME_PLACE(struct dray_dlpack_device, DLDevice, device_id);

SAME_SIZE(struct dray_dlpack_dtype, DLDataType);
SAME_PLACE(struct dray_dlpack_dtype, DLDataType, code);
SAME_PLACE(struct dray_dlpack_dtype, DLDataType, bits);
SAME_PLACE(struct dray_dlpack_dtype, DLDataType, lanes);

SAME_SIZE(struct dray_dlpack_tensor, DLTensor);
SAME_PLACE(struct dray_dlpack_tensor, DLTensor, data);
SAME_PLACE(struct dray_dlpack_tensor, DLTensor, device);
SAME_PLACE(struct dray_dlpack_tensor, DLTensor, ndim);
SAME_PLACE(struct dray_dlpack_tensor, DLTensor, dtype);
SAME_PLACE(struct dray_dlpack_tensor, DLTensor, shape);
SAME_PLACE(struct dray_dlpack_tensor, DLTensor, strides);
SAME_PLACE(struct dray_dlpack_tensor, DLTensor, byte_offset);

SAME_SIZE(struct dray_dlpack_managed, DLManagedTensor);
SAME_PLACE(struct dray_dlpack_managed, DLManagedTensor, dl_tensor);
SAME_PLACE(struct dray_dlpack_managed, DLManagedTensor, manager_ctx);
SAME_PLACE(struct dray_dlpack_managed, DLManagedTensor, deleter);

SAME_SIZE(struct dray_dlpack_versioned, DLManagedTensorVersioned);
SAME_PLACE(struct dray_dlpack_versioned, DLManagedTensorVersioned, version);
SAME_PLACE(struct dray_dlpack_versioned, DLManagedTensorVersioned, manager_ctx);
SAME_PLACE(struct dray_dlpack_versioned, DLManagedTensorVersioned, deleter);
SAME_PLACE(struct dray_dlpack_versioned, DLManagedTensorVersioned, flags);
SAME_PLACE(struct dray_dlpack_versioned, DLManagedTensorVersioned, dl_tensor);

SAME_SIZE(struct dray_dlpack_api_header, DLPackExchangeAPIHeader);
SAME_PLACE(struct dray_dlpack_api_header, DLPackExchangeAPIHeader, version);
SAME_PLACE(struct dray_dlpack_api_header, DLPackExchangeAPIHeader, prev_api);

SAME_SIZE(struct dray_dlpack_api, DLPackExchangeAPI);
SAME_PLACE(struct dray_dlpack_api, DLPackExchangeAPI, header);
SAME_PLACE(struct dray_dlpack_api, DLPackExchangeAPI, managed_tensor_allocator);
SAME_PLACE(struct dray_dlpack_api, DLPackExchangeAPI,
	   managed_tensor_from_py_object_no_sync);
SAME_PLACE(struct dray_dlpack_api, DLPackExchangeAPI,
	   managed_tensor_to_py_object_no_sync);
SAME_PLACE(struct dray_dlpack_api, DLPackExchangeAPI,
	   dltensor_from_py_object_no_sync);
SAME_PLACE(struct dray_dlpack_api, DLPackExchangeAPI, current_work_stream);

int main(void)
{
	printf("as in DLPack %d.%d\n", DLPACK_MAJOR_VERSION,
	       DLPACK_MINOR_VERSION);
	return 0;
}
