// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Uses functions and constants that bindgen makes of the headers.
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]
include!("DRAY_RS");

fn main() {
    let shape = [3i64, 4];
    let mut array = std::ptr::null_mut();
    unsafe {
        let dtype = DRAY_FLOAT32 as dray_dtype;
        assert_eq!(dray_array_zeros(dtype, 2, shape.as_ptr(), &mut array), 0);
        assert_eq!(dray_dtype_itemsize(dtype), 4);
        dray_array_ref(array);
        assert_eq!(dray_block_count(&(*array).block), 2);
        dray_array_unref(array);
        assert_eq!(dray_block_count(&(*array).block), 1);
        dray_array_unref(array);
    }
    assert_eq!(DRAY_OMIT, i64::MIN);
    assert_eq!(DRAY_XRT_P2P, 1 << 30);
}
