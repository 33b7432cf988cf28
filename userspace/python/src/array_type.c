// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The type dray.Array: its methods and slots.  The library does the work on shapes
 * and elements; values of Python, and text, are left to NumPy.  dray/_methods.py adds
 * methods in Python before the type becomes immutable.
 */
#include <stddef.h>
#include <string.h>

#include "arithmetic/array_statistics.h"
#include "arithmetic/array_ufunc.h"

#include <structmember.h>

static PyMethodDef array_methods[] = {
	{ "empty", WITH_KEYWORDS(array_empty),
	  METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
	  "empty($type, /, shape, dtype=float, order='C')\n--\n\n"
	  "A new array with undefined elements, in memory of NumPy's current handler:\n"
	  "inside `with dray.memory():` in dray's memory." },
	{ "zeros", WITH_KEYWORDS(array_zeros),
	  METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
	  "zeros($type, /, shape, dtype=float, order='C')\n--\n\n"
	  "The same, and all bytes are zero." },
	{ "arange", WITH_KEYWORDS(array_arange),
	  METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
	  "arange($type, /, start, stop=None, step=None, dtype=None)\n--\n\n"
	  "Numbers in even steps before `stop`, from 0 if `start` is alone.  Dates are a\n"
	  "view of integers: arange(3).view('M8[D]')." },
	{ "copy", WITH_KEYWORDS(array_copy), METH_FASTCALL | METH_KEYWORDS,
	  "copy($self, /, order='C')\n--\n\n"
	  "A copy in order 'C', 'F', 'A' or 'K', in memory like empty()'s." },
	{ "astype", WITH_KEYWORDS(array_astype), METH_FASTCALL | METH_KEYWORDS,
	  "astype($self, /, dtype, order='K', casting='unsafe', copy=True, *, subok=True)\n--\n\n"
	  "A copy of another type; with copy=False the array itself, if its type is equal.\n"
	  "Errors of numbers are those of errstate(), as \"overflow encountered in cast\"." },
	{ "transpose", WITH_KEYWORDS(array_transpose), METH_FASTCALL,
	  "transpose($self, /, *axes)\n--\n\n"
	  "A view with its axes in another order, by default reversed." },
	{ "broadcast_to", array_broadcast_to, METH_O,
	  "broadcast_to($self, shape, /)\n--\n\n"
	  "A read-only view in which axes of length 1 are repeated." },
	{ "swapaxes", WITH_KEYWORDS(array_swapaxes), METH_FASTCALL,
	  "swapaxes($self, axis1, axis2, /)\n--\n\nA view with two axes exchanged." },
	{ "moveaxis", WITH_KEYWORDS(array_moveaxis), METH_FASTCALL,
	  "moveaxis($self, source, destination, /)\n--\n\n"
	  "A view with axes at other places; the others keep their order." },
	{ "squeeze", WITH_KEYWORDS(array_squeeze),
	  METH_FASTCALL | METH_KEYWORDS,
	  "squeeze($self, /, axis=None)\n--\n\nA view without axes of length 1." },
	{ "expand_dims", WITH_KEYWORDS(array_expand_dims),
	  METH_FASTCALL | METH_KEYWORDS,
	  "expand_dims($self, /, axis)\n--\n\nA view with more axes of length 1." },
	{ "flip", WITH_KEYWORDS(array_flip), METH_FASTCALL | METH_KEYWORDS,
	  "flip($self, /, axis=None)\n--\n\nA view with axes reversed." },
	{ "diagonal", WITH_KEYWORDS(array_diagonal),
	  METH_FASTCALL | METH_KEYWORDS,
	  "diagonal($self, /, offset=0, axis1=0, axis2=1)\n--\n\n"
	  "A read-only view of the diagonal of two axes." },
	{ "reshape", WITH_KEYWORDS(array_reshape),
	  METH_FASTCALL | METH_KEYWORDS,
	  "reshape($self, /, *shape, order='C', copy=None)\n--\n\n"
	  "A view with another shape, or if strides do not allow it, a copy; copy=True:\n"
	  "always a copy, False: ValueError instead of one." },
	{ "ravel", WITH_KEYWORDS(array_ravel), METH_FASTCALL | METH_KEYWORDS,
	  "ravel($self, /, order='C')\n--\n\n"
	  "The elements along a single axis: a view if they lie so, or else a copy." },
	{ "view", WITH_KEYWORDS(array_view), METH_FASTCALL | METH_KEYWORDS,
	  "view($self, /, dtype=None)\n--\n\nThe same bytes as another type." },
	{ "sliding_window_view", WITH_KEYWORDS(array_windows),
	  METH_FASTCALL | METH_KEYWORDS,
	  "sliding_window_view($self, /, window_shape, axis=None)\n--\n\n"
	  "A read-only view of every window of a shape." },
	{ "as_strided", WITH_KEYWORDS(array_as_strided), METH_FASTCALL,
	  "as_strided($self, shape, strides, /)\n--\n\n"
	  "A view of any shape and strides inside of the array's memory." },
	{ "shares_memory", array_shares_memory, METH_O,
	  "shares_memory($self, other, /)\n--\n\n"
	  "Whether an element of each shares a byte with the other, exactly." },
	{ "save", WITH_KEYWORDS(array_save), METH_FASTCALL | METH_KEYWORDS,
	  "save($self, /, path, *, page=False, new=False)\n--\n\n"
	  "Writes a .npy file: with its elements from a page's start on; or only if there\n"
	  "is none of that name." },
	{ "load", WITH_KEYWORDS(array_load),
	  METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
	  "load($type, /, path, *, node=None)\n--\n\n"
	  "A new array of the contents of a .npy file, in memory like empty()'s, or in a\n"
	  "buffer of a node, to read header and elements by O_DIRECT." },
	{ "map", WITH_KEYWORDS(array_map),
	  METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
	  "map($type, /, path, *, writable=False)\n--\n\n"
	  "An array over the bytes of a .npy file: writes change the file." },
	{ "take", WITH_KEYWORDS(array_take), METH_FASTCALL | METH_KEYWORDS,
	  "take($self, /, indices, axis=None, out=None, mode='raise')\n--\n\n"
	  "A copy of the elements of some numbers along an axis, or of all in C order." },
	{ "put", WITH_KEYWORDS(array_put), METH_FASTCALL | METH_KEYWORDS,
	  "put($self, /, indices, values, mode='raise')\n--\n\n"
	  "Sets the elements of some numbers in C order; values are repeated." },
	{ "sort", WITH_KEYWORDS(array_sort), METH_FASTCALL | METH_KEYWORDS,
	  "sort($self, /, axis=-1, kind=None, order=None, *, stable=None)\n--\n\n"
	  "Sorts the elements along an axis in place; equal elements keep their order." },
	{ "argsort", WITH_KEYWORDS(array_argsort),
	  METH_FASTCALL | METH_KEYWORDS,
	  "argsort($self, /, axis=-1, kind=None, order=None, *, stable=None)\n--\n\n"
	  "The indices that would sort it; of all elements in C order with None." },
	{ "argmax", WITH_KEYWORDS(array_argmax), METH_FASTCALL | METH_KEYWORDS,
	  "argmax($self, /, axis=None, out=None)\n--\n\n"
	  "The index of the first largest element along an axis, or of all." },
	{ "argmin", WITH_KEYWORDS(array_argmin), METH_FASTCALL | METH_KEYWORDS,
	  "argmin($self, /, axis=None, out=None)\n--\n\n"
	  "The index of the first smallest element along an axis, or of all." },
	{ "nonzero", array_nonzero, METH_NOARGS,
	  "nonzero($self, /)\n--\n\n"
	  "The indices of elements that are not zero: an Array for each axis." },
	{ "where", WITH_KEYWORDS(array_where), METH_FASTCALL,
	  "where($self, yes, no, /)\n--\n\n"
	  "A new array: of `yes` where the element is true, else of `no`." },
	{ "sum", WITH_KEYWORDS(array_sum), METH_FASTCALL | METH_KEYWORDS,
	  "sum($self, /, axis=None, dtype=None, out=None, keepdims=False, initial=0,\n"
	  "    where=True)\n--\n\nThe sum of the elements, along axes or of all." },
	{ "prod", WITH_KEYWORDS(array_prod), METH_FASTCALL | METH_KEYWORDS,
	  "prod($self, /, axis=None, dtype=None, out=None, keepdims=False, initial=1,\n"
	  "     where=True)\n--\n\nThe product of the elements." },
	{ "min", WITH_KEYWORDS(array_min), METH_FASTCALL | METH_KEYWORDS,
	  "min($self, /, axis=None, out=None, keepdims=False, initial=None, where=True)\n"
	  "--\n\nThe smallest element." },
	{ "max", WITH_KEYWORDS(array_max), METH_FASTCALL | METH_KEYWORDS,
	  "max($self, /, axis=None, out=None, keepdims=False, initial=None, where=True)\n"
	  "--\n\nThe largest element." },
	{ "ptp", WITH_KEYWORDS(array_ptp), METH_FASTCALL | METH_KEYWORDS,
	  "ptp($self, /, axis=None, out=None, keepdims=False)\n--\n\n"
	  "The largest element minus the smallest." },
	{ "all", WITH_KEYWORDS(array_all), METH_FASTCALL | METH_KEYWORDS,
	  "all($self, /, axis=None, out=None, keepdims=False, *, where=True)\n--\n\n"
	  "Whether all elements are true." },
	{ "any", WITH_KEYWORDS(array_any), METH_FASTCALL | METH_KEYWORDS,
	  "any($self, /, axis=None, out=None, keepdims=False, *, where=True)\n--\n\n"
	  "Whether an element is true." },
	{ "mean", WITH_KEYWORDS(array_mean), METH_FASTCALL | METH_KEYWORDS,
	  "mean($self, /, axis=None, dtype=None, out=None, keepdims=False, *, where=True)\n"
	  "--\n\nThe mean." },
	{ "var", WITH_KEYWORDS(array_var), METH_FASTCALL | METH_KEYWORDS,
	  "var($self, /, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *,\n"
	  "    where=True, mean=None)\n--\n\nThe variance, with the divisor size - ddof." },
	{ "std", WITH_KEYWORDS(array_std), METH_FASTCALL | METH_KEYWORDS,
	  "std($self, /, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *,\n"
	  "    where=True, mean=None)\n--\n\nThe standard deviation." },
	{ "cumsum", WITH_KEYWORDS(array_cumsum), METH_FASTCALL | METH_KEYWORDS,
	  "cumsum($self, /, axis=None, dtype=None, out=None)\n--\n\n"
	  "Running sums along an axis, or of all elements in C order." },
	{ "cumprod", WITH_KEYWORDS(array_cumprod),
	  METH_FASTCALL | METH_KEYWORDS,
	  "cumprod($self, /, axis=None, dtype=None, out=None)\n--\n\n"
	  "Running products." },
	{ "clip", WITH_KEYWORDS(array_clip), METH_FASTCALL | METH_KEYWORDS,
	  "clip($self, /, min=None, max=None, out=None, **keywords)\n--\n\n"
	  "The elements, put between bounds." },
	{ "round", WITH_KEYWORDS(array_round), METH_FASTCALL | METH_KEYWORDS,
	  "round($self, /, decimals=0, out=None)\n--\n\n"
	  "The elements, rounded to even." },
	{ "conj", WITH_KEYWORDS(array_conj), METH_VARARGS | METH_KEYWORDS,
	  "conj($self, /, out=None)\n--\n\n"
	  "Complex conjugates; of real numbers the array itself." },
	{ "conjugate", WITH_KEYWORDS(array_conj), METH_VARARGS | METH_KEYWORDS,
	  "conjugate($self, /, out=None)\n--\n\nThe same as conj()." },
	{ "dot", WITH_KEYWORDS(array_dot), METH_FASTCALL | METH_KEYWORDS,
	  "dot($self, other, /, out=None)\n--\n\n"
	  "The product of vectors or matrices, as dray.dot()." },
	{ "fill", array_fill, METH_O,
	  "fill($self, value, /)\n--\n\nSets all elements." },
	{ "item", array_item, METH_VARARGS,
	  "item($self, /, *args)\n--\n\n"
	  "An element as an object of Python, as of NumPy's array." },
	{ "tolist", array_tolist, METH_NOARGS,
	  "tolist($self, /)\n--\n\nThe elements as nested lists." },
	{ "__array__", WITH_KEYWORDS(array_to_numpy),
	  METH_FASTCALL | METH_KEYWORDS,
	  "__array__($self, /, dtype=None, copy=None)\n--\n\n"
	  "NumPy's array over the same memory, or a copy." },
	{ "__dlpack__", WITH_KEYWORDS(array_dlpack),
	  METH_FASTCALL | METH_KEYWORDS,
	  "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None,\n"
	  "           copy=None)\n--\n\n"
	  "A capsule of DLPack over the same memory, or over a copy.  Waits until no\n"
	  "transfer uses the memory, unless stream is -1." },
	{ "__dlpack_device__", array_dlpack_device, METH_NOARGS,
	  "__dlpack_device__($self, /)\n--\n\n"
	  "DLPack's device: (1, 0) is the CPU, (12, 0) memory that it does not reach." },
	{ "__arrow_c_schema__", array_arrow_schema, METH_NOARGS,
	  "__arrow_c_schema__($self, /)\n--\n\n"
	  "A capsule of Arrow's schema for arrays of this type and shape." },
	{ "__arrow_c_array__", WITH_KEYWORDS(array_arrow_array),
	  METH_VARARGS | METH_KEYWORDS,
	  "__arrow_c_array__($self, /, requested_schema=None)\n--\n\n"
	  "Capsules of Arrow's schema and array, over the same memory.  Never converts or\n"
	  "copies: dray.to_arrow() does." },
	{ "__arrow_c_device_array__", WITH_KEYWORDS(array_arrow_device_array),
	  METH_VARARGS | METH_KEYWORDS,
	  "__arrow_c_device_array__($self, /, requested_schema=None, **kwargs)\n--\n\n"
	  "The same, with a device array: the CPU's, and nothing to wait for." },
	{ "__copy__", array_copied, METH_NOARGS,
	  "__copy__($self, /)\n--\n\nA copy in order 'K'." },
	{ "__deepcopy__", array_copied, METH_O,
	  "__deepcopy__($self, memo, /)\n--\n\nThe same." },
	{ "__reduce__", array_reduce, METH_NOARGS,
	  "__reduce__($self, /)\n--\n\nPickles the elements." },
	{ "__array_ufunc__", WITH_KEYWORDS(array_array_ufunc),
	  METH_FASTCALL | METH_KEYWORDS,
	  "__array_ufunc__($self, ufunc, method, /, *inputs, **kwargs)\n--\n\n"
	  "Computes a ufunc of NumPy by dray's of the same name; by NumPy if that has no\n"
	  "loop for the types." },
	{ "__format__", array_format, METH_VARARGS,
	  "__format__($self, format, /)\n--\n\n"
	  "The text of NumPy's array, or of the element without axes." },
	{ "__debug_repr__", array_debug, METH_NOARGS,
	  "__debug_repr__($self, /)\n--\n\nThe text of dray.debug_repr()." },
	{ NULL, NULL, 0, NULL },
};

static PyMemberDef array_members[] = {
	{ "__weaklistoffset__", T_PYSSIZET, offsetof(struct array_object, weak),
	  READONLY, NULL },
	{ NULL, 0, 0, 0, NULL },
};

static PyType_Slot array_slots[] = {
	{ Py_tp_doc,
	  "Array(source, /)\n--\n\n"
	  "A strided array of libdray, over the memory of `source` without a copy:\n"
	  "of another Array, an array of NumPy, or an object with the buffer protocol\n"
	  "or with __array_interface__." },
	{ Py_tp_new, array_new },
	{ Py_tp_dealloc, array_dealloc },
	{ Py_tp_repr, array_repr },
	{ Py_tp_str, array_str },
	{ Py_tp_iter, array_iter },
	{ Py_tp_richcompare, array_compare },
	{ Py_mp_length, array_length },
	{ Py_sq_length, array_length },
	{ Py_sq_contains, array_contains },
	{ Py_mp_subscript, array_get },
	{ Py_mp_ass_subscript, array_set },
	{ Py_sq_item, array_at },
	{ Py_sq_ass_item, array_set_at },
	{ Py_nb_bool, array_bool },
	{ Py_nb_int, array_int },
	{ Py_nb_float, array_float },
	{ Py_nb_index, array_integer },
	{ Py_bf_getbuffer, array_get_buffer },
	{ Py_tp_methods, array_methods },
	{ Py_tp_members, array_members },
	{ Py_tp_getset, array_properties },
	{ 0, NULL },
};

#define OWN (sizeof(array_slots) / sizeof(array_slots[0]) - 1)

/* With the operators of array_operators.c. */
static PyType_Slot all_slots[OWN + ARRAY_OPERATORS + 1];

void array_type_init(void)
{
	memcpy(all_slots, array_slots, OWN * sizeof(array_slots[0]));
	memcpy(all_slots + OWN, array_operators,
	       ARRAY_OPERATORS * sizeof(array_operators[0]));
}

PyType_Spec array_type_spec = {
	.name = "dray.Array",
	.basicsize = sizeof(struct array_object),
	.itemsize = sizeof(int64_t),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = all_slots,
};
