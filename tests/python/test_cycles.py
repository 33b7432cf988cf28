# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Objects with functions of the program that refer to the object itself: the garbage
collector ends both."""
import ctypes
import gc
import weakref

import numpy as np
import pytest

import dray
import dray.mr

LOOP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p),
                        ctypes.POINTER(ctypes.c_int64), ctypes.c_int64, ctypes.c_void_p)


class Function:
    """A function that refers to whatever holds it."""

    def __init__(self, answer=None):
        self.answer = answer
        self.holder = None

    def __call__(self, *arguments, **_):
        return self.answer(*arguments) if self.answer else None


HEAP = dray.mr.MallocMemoryResource()


def callback_resource(function):
    function.answer = HEAP.allocate
    resource = dray.mr.CallbackMemoryResource(function, HEAP.deallocate)
    block = resource.allocate(100)
    resource.deallocate(block, 100)
    return resource


def freeing_resource(function):
    function.answer = HEAP.deallocate
    resource = dray.mr.CallbackMemoryResource(HEAP.allocate, function)
    with dray.memory(resource):
        np.ones(1000)
    return resource


def stacked_resource(function):
    function.answer = HEAP.allocate
    resource = dray.mr.CallbackMemoryResource(function, HEAP.deallocate)
    return dray.mr.StatisticsResourceAdaptor(dray.mr.LimitingResourceAdaptor(resource, "1M"))


def failure_resource(function):
    resource = dray.mr.FailureCallbackResourceAdaptor(
        dray.mr.LimitingResourceAdaptor(HEAP, 10), function)
    with pytest.raises(MemoryError):
        resource.allocate(100)
    return resource


def hook(function):
    made = dray.MemoryHook()
    made.malloc_preprocess = function
    with dray.memory(), made:
        np.ones(1000)
    return made


def profiled(function):
    made = dray.profiler()
    made.wrapped = made(function)
    made.wrapped()
    return made


def function_ufunc(function):
    function.answer = lambda x: x
    made = dray.frompyfunc(function, 1, 1, types="d->d")
    made(np.ones(3))
    return made


def loop_ufunc(function):
    made = dray.ufunc("loop", 1, 1)
    function.answer = lambda *_: 0
    made.register("d->d", LOOP(function))
    made(np.ones(3))
    return made


def core_ufunc(function):
    made = dray.ufunc("core", signature="(n)->()")
    function.answer = lambda *_: 0
    made.register("d->d", LOOP(function))
    return made


def type_of(keyword):
    def make(function):
        function.answer = {"item": lambda raw: raw, "pack": lambda value: b"1234",
                           "compare": lambda a, b: 0, "nonzero": lambda a: True}[keyword]
        made = dray.UserType("made", 4, **{keyword: function})
        a = dray.Array.zeros(3, made)
        a[0] = b"abcd"
        a.sort()
        return made
    return make


def type_with_cast(function):
    made = dray.UserType("made", 4)
    made.cast("f8", made, function)
    return made


def type_with_loop(function):
    made = dray.UserType("made", 4)
    made.cast(made, "f8", LOOP(function))
    return made


def types_that_convert(function):
    """Two types, each of which knows the other."""
    made, other = dray.UserType("made", 4), dray.UserType("other", 4)
    made.cast(made, other, function)
    other.cast(other, made, function)
    return made


KINDS = {make.__name__: make for make in (
    callback_resource, freeing_resource, stacked_resource, failure_resource, hook, profiled,
    function_ufunc, loop_ufunc, core_ufunc, type_with_cast, type_with_loop, types_that_convert)}
KINDS.update({f"type_with_{keyword}": type_of(keyword)
              for keyword in ("item", "pack", "compare", "nonzero")})


@pytest.mark.parametrize("kind", KINDS)
def test_the_collector_ends_an_object_whose_function_refers_to_it(kind):
    function = Function()
    function.holder = KINDS[kind](function)
    gone = weakref.ref(function)
    gc.collect()
    assert gone() is function
    del function
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.endswith("_resource")])
def test_memory_keeps_a_resource_from_the_collector(kind):
    function = Function()
    function.holder = KINDS[kind](function)
    with dray.memory(function.holder if kind != "failure_resource"
                     else dray.mr.StatisticsResourceAdaptor(HEAP)):
        array = np.ones(1000)
    gone = weakref.ref(function)
    del function
    gc.collect()
    assert (gone() is None) == (kind == "failure_resource")
    del array
    gc.collect()
    assert gone() is None


def test_a_block_that_is_out_does_not_keep_the_functions_of_its_resource():
    function = Function(HEAP.allocate)
    function.holder = dray.mr.CallbackMemoryResource(function, HEAP.deallocate)
    block = function.holder.allocate(100)
    gone = weakref.ref(function)
    del function
    gc.collect()
    assert gone() is None
    HEAP.deallocate(block, 100)
