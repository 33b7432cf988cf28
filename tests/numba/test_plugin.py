# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What dray.numba adds to Numba's manager, a fact for each case.  Each begins
without a context, and ends with no block of the pool in use."""
import gc
import mmap
import multiprocessing
import pickle
import unittest

import dray
import dray.numba
import numpy as np
from numba import cuda
from numba.cuda.cudadrv import devicearray, driver, enums


def flush():
    """Frees what is pending in the context."""
    gc.collect()
    cuda.current_context().memory_manager.deallocations.clear()


def blocks():
    return dray.numba.pool().stats().blocks


def write_through(handle, answers):
    """In another process: what it reads there, and 7 written instead."""
    try:
        with handle as array:
            answers.put(array.copy_to_host())
            driver.device_memset(array, 7, array.nbytes)
    except Exception as error:
        answers.put(error)


def open_twice(handle, answers):
    """In another process: what the driver says of the second time."""
    other = pickle.loads(pickle.dumps(handle))
    with handle:
        try:
            other.open()
            answers.put(None)
        except driver.CudaAPIError as error:
            answers.put(error.code)


class TestPlugin(unittest.TestCase):
    def setUp(self):
        cuda.close()
        self.before = blocks()

    def tearDown(self):
        flush()
        self.assertEqual(blocks(), self.before)

    def test_numba_takes_the_manager_that_the_environment_names(self):
        self.assertIs(type(cuda.current_context().memory_manager),
                      dray.numba.MemoryManager)

    def test_pinned_arrays_lie_in_the_pool(self):
        array = cuda.pinned_array(1000)
        self.assertEqual(blocks(), self.before + 1)
        self.assertEqual(array.ctypes.data % mmap.PAGESIZE, 0)

    def test_mapped_arrays_lie_in_the_pool(self):
        array = cuda.mapped_array(1000, np.uint8)
        self.assertEqual(blocks(), self.before + 1)
        driver.device_memset(array, 7, 1000)
        self.assertTrue((array == 7).all())

    def test_device_memory_is_the_drivers(self):
        array = cuda.device_array(1000)
        self.assertEqual(blocks(), self.before)
        del array

    def test_write_combined_memory_is_the_drivers(self):
        memory = cuda.current_context().memhostalloc(1000, wc=True)
        np.ndarray(1000, np.uint8, memory)[:] = 3
        self.assertEqual(blocks(), self.before)

    def test_dray_copies_from_one_pinned_array_to_another(self):
        source, copy = cuda.pinned_array((16, 9)), cuda.pinned_array((8, 9))
        source[:] = np.arange(16 * 9).reshape(16, 9)
        copy[:] = 0
        dray.copy(copy, source[::2]).wait()
        self.assertTrue((copy == source[::2]).all())

    def test_the_device_sees_what_dray_copied(self):
        with dray.memory():
            source = np.arange(100.)
        mapped = cuda.mapped_array(100)
        dray.copy(mapped, source).wait()
        result = np.empty(100)
        driver.device_to_host(result, mapped, result.nbytes)
        self.assertTrue((result == source).all())

    def test_small_arrays_share_no_page(self):
        # The driver refuses to register a page twice.
        arrays = [cuda.pinned_array(1) for _ in range(20)]
        self.assertEqual(blocks(), self.before + len(arrays))

    def test_a_freed_block_waits_for_the_flush(self):
        array = cuda.pinned_array(1000)
        flush()
        del array
        self.assertEqual(blocks(), self.before + 1)
        flush()
        self.assertEqual(blocks(), self.before)

    def test_nothing_is_freed_in_a_section_of_deferral(self):
        cuda.current_context()
        with cuda.defer_cleanup():
            for _ in range(20):
                cuda.pinned_array(1)
            flush()
            self.assertEqual(blocks(), self.before + 20)
        flush()
        self.assertEqual(blocks(), self.before)

    def test_a_freed_block_is_not_registered_any_more(self):
        array = cuda.pinned_array(1000)
        pointer = driver.host_pointer(array)
        del array
        flush()
        with self.assertRaises(driver.CudaAPIError) as raised:
            driver.driver.cuMemHostUnregister(pointer)
        self.assertEqual(raised.exception.code,
                         enums.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)

    def test_an_array_outlives_its_context(self):
        array = cuda.pinned_array(1000)
        cuda.close()
        array[:] = 5
        self.assertEqual(array.sum(), 5000)
        cuda.current_context()
        other = cuda.pinned_array(1000)
        other[:] = 1
        del array
        self.assertEqual(other.sum(), 1000)

    def test_no_bytes_are_the_drivers_error(self):
        with self.assertRaises(driver.CudaAPIError) as raised:
            cuda.current_context().memhostalloc(0)
        self.assertEqual(raised.exception.code, enums.CUDA_ERROR_INVALID_VALUE)

    def test_user_memory_is_pinned_where_it_is(self):
        array = np.arange(1000)
        with cuda.mapped(array) as mapped:
            driver.device_memset(mapped, 0, array.nbytes)
        self.assertFalse(array.any())
        self.assertEqual(blocks(), self.before)


class TestIpc(unittest.TestCase):
    """Mapped memory in two processes."""

    def in_another_process(self, handle, work=write_through):
        spawn = multiprocessing.get_context("spawn")
        answers = spawn.Queue()
        process = spawn.Process(target=work, args=(handle, answers))
        process.start()
        answer = answers.get(timeout=300)
        process.join()
        return answer

    def test_both_processes_have_the_same_bytes(self):
        array = cuda.mapped_array(1000, np.uint8)
        array[:] = np.arange(1000) % 251
        answer = self.in_another_process(array.get_ipc_handle())
        np.testing.assert_array_equal(answer, np.arange(1000) % 251)
        self.assertTrue((array == 7).all())

    def test_a_part_is_a_part_there_too(self):
        array = cuda.mapped_array(1000, np.uint8)
        array[:] = 1
        memory = cuda.current_context().get_ipc_handle(
            array.gpu_data.view(100, 200))
        handle = devicearray.IpcArrayHandle(
            memory, {"shape": (100,), "strides": (1,), "dtype": array.dtype})
        self.assertEqual(self.in_another_process(handle).size, 100)
        self.assertTrue((array[100:200] == 7).all())
        self.assertEqual(np.count_nonzero(array == 7), 100)

    def test_memory_that_is_open_is_registered_already(self):
        array = cuda.mapped_array(10)
        self.assertEqual(
            self.in_another_process(array.get_ipc_handle(), open_twice),
            enums.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)

    def test_the_process_itself_does_not_open_it(self):
        array = cuda.mapped_array(10)
        with self.assertRaisesRegex(ValueError, "original process"):
            array.get_ipc_handle().open()

    def test_memory_that_is_gone_is_not_opened(self):
        array = cuda.mapped_array(10)
        record = pickle.dumps(array.get_ipc_handle())
        del array
        flush()
        self.assertIsInstance(
            self.in_another_process(pickle.loads(record)), OSError)

    def test_device_memory_has_the_drivers_handle(self):
        array = cuda.device_array(10)
        handle = cuda.current_context().get_ipc_handle(array.gpu_data)
        self.assertIs(type(handle), driver.IpcHandle)


class TestPool(unittest.TestCase):
    """With pools of the test's own."""

    def setUp(self):
        cuda.close()
        self.kept = dray.numba.pool()
        self.manager = driver._memory_manager

    def tearDown(self):
        dray.numba.install(self.kept)
        driver._memory_manager = self.manager
        cuda.close()

    def install(self, **options):
        pool = dray.open("host").pool(**options)
        dray.numba.install(pool)
        return pool

    def test_a_pool_that_is_full_is_out_of_memory_for_numba(self):
        self.install(limit=1 << 20, granule=mmap.PAGESIZE)
        with self.assertRaises(driver.CudaAPIError) as raised:
            cuda.pinned_array(2 << 20, np.uint8)
        self.assertEqual(raised.exception.code,
                         enums.CUDA_ERROR_OUT_OF_MEMORY)
        self.assertIn("2097152", str(raised.exception))

    def test_pending_blocks_are_freed_where_memory_is_short(self):
        pool = self.install(limit=1 << 20, granule=mmap.PAGESIZE)
        array = cuda.pinned_array(700000, np.uint8)
        cuda.current_context().memory_manager.deallocations.clear()
        del array
        self.assertEqual(pool.stats().blocks, 1)
        array = cuda.pinned_array(700000, np.uint8)
        self.assertEqual(pool.stats().blocks, 1)

    def test_a_pool_whose_blocks_share_pages_is_refused(self):
        self.install(granule=128)
        with self.assertRaisesRegex(ValueError, "granule is below"):
            for _ in range(2):
                cuda.pinned_array(1)
