# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The examples in the public headers, which the section-3 pages show: each is compiled,
and runs on the host back end."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
USERSPACE = Path(os.environ["DRAY_BUILD"]) / "userspace"
sys.path += [str(TREE / "docs/man"), str(TREE / "tests/python")]
import reference
import xclbin_file

HEADERS = TREE / "include/dray"
# Around an example: objects with the names that the examples use.
PROGRAM = r"""
#include <dray/array.h>
#if EXAMPLE_OPENCL
#include <dray/opencl.h>
#endif
#if EXAMPLE_MPI
#include <dray/mpi.h>
#endif
#if EXAMPLE_UCX
#include <dray/ucx.h>
#endif
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Copies float64, as a loop of two operands. */
int loop(char *const *data, const int64_t *strides, int64_t count, void *context)
{
	for (int64_t i = 0; !context && i < count; i++)
		memcpy(data[1] + i * strides[1], data[0] + i * strides[0], 8);
	return 0;
}

const int64_t shape[] = { 3, 4 };
void *context;
struct dray_node *node;
struct dray_pool *pool;
struct dray_array *array, *second;
struct dray_view view, x, y, from, to;
char *block;

static double sum_of(struct dray_array *of)
{
	const struct dray_reduce_options all = { .flags = DRAY_REDUCE_ALL_AXES };
	struct dray_array *total;
	struct dray_view whole;
	double sum;

	assert(!dray_sum(dray_array_view(of, &whole), NULL, &all, &total));
	assert(!dray_view_get(dray_array_view(total, &whole), DRAY_FLOAT64, &sum));
	dray_array_unref(total);
	return sum;
}

static int example(void)
{
	int ret = 0;

	(void)sum_of;
	%s
	{
%s
		if (!ret) {
			%s
		}
	}
	return ret;
}

int main(void)
{
	int ret;

	assert(!dray_node_open("host:shareable", &node));
	assert(!dray_pool_create(node, NULL, &pool));
	dray_set_handler(dray_handler_for(pool));
	assert(!dray_array_arange(DRAY_FLOAT64, 0, 12, 1, &array));
	assert(!dray_view_reshape(dray_array_view(array, &view), 2, shape, DRAY_ORDER_C,
				  &view));
	dray_array_unref(array);
	assert(!dray_array_copy(&view, DRAY_ORDER_C, &array));
	assert(!dray_array_zeros(DRAY_FLOAT64, 2, shape, &second));
	x = y = from = *dray_array_view(array, &view);
	dray_array_view(second, &to);
	block = dray_pool_calloc(pool, 1, 4096);
	ret = example();
	fflush(stdout);
	if (ret)
		fprintf(stderr, "%%s\n", dray_last_error());
	return -ret;
}
"""
# By header: statements before and behind its example, and its output.
EXAMPLES = {
    "base.h": ("", "", "", "/dev/dray9"),
    "block.h": ("struct dray_pool_stats old = { 0 }, new = { 0 }; dray_pool_stats(pool, &old);",
                "dray_pool_stats(pool, &new); assert(new.used == old.used);", ""),
    "dtype.h": ("", "", "16 bytes\n"),
    "element.h": ("", "", "1.5\n"),
    "handler.h": ("dray_set_handler(NULL);", "assert(before == dray_handler_default());", ""),
    "ipc.h": ('strcpy(block, "hello");', "assert(!dray_ipc_revoke(&record));", "hello\n"),
    "kind.h": ("", "", "host\n"),
    "loan.h": ("size_t bytes = 96; memset(view.data, 'a', bytes);", "", "a" * 96),
    "manager.h": ("", "", ""),
    "memory.h": ("", "", ""),
    "mpi.h": ("MPI_Init(NULL, NULL);", "MPI_Finalize(); assert(sum_of(second) == 66);", ""),
    "opencl.h": ("",
                 "dray_call_queue_destroy(queue); dray_executor_unref(device);", ""),
    "pool.h": ("", "", ""),
    "publish.h": ("", "", ""),
    "record.h": ("int sockets[2]; assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));",
                 "", "12 elements\n"),
    "registers.h": ("", "", "", "offers no registers"),
    "resource.h": ("", "", ""),
    "rows.h": ("memset(view.data, 'a', 96);", "", "a" * 96),
    "slice.h": ("", "assert(part.ndim == 2 && part.shape[0] == 2);"
                    "assert(*(double *)part.data == 7);", ""),
    "stream.h": ("struct dray_stream *tx; struct dray_event *sent;"
                 'assert(!dray_stream_open(node, "tx0", NULL, &tx));'
                 "assert(!dray_stream_send(tx, &view, NULL, &sent)); view = to;",
                 "dray_event_unref(sent); dray_stream_close(tx);"
                 "assert(sum_of(second) == 66);", ""),
    "transfer.h": ("", "assert(sum_of(second) == 66);", ""),
    "ucx.h": ("ucp_context_h context; ucp_worker_h worker; ucp_ep_h ep; size_t length;"
              "ucp_params_t parameters = { .field_mask = UCP_PARAM_FIELD_FEATURES,"
              ".features = UCP_FEATURE_TAG }; ucp_worker_params_t alone = { 0 };"
              "ucp_ep_params_t end = { .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS };"
              "assert(!ucp_init(&parameters, NULL, &context));"
              "assert(!ucp_worker_create(context, &alone, &worker));"
              "assert(!ucp_worker_get_address(worker, (ucp_address_t **)&end.address, &length));"
              "assert(!ucp_ep_create(worker, &end, &ep));",
              "assert(sum_of(second) == 66);", ""),
    "view.h": ("", "assert(columns.shape[0] == 4 && columns.strides[1] == 16);", ""),
    "xclbin.h": ("", "", "HPC0: DDR4\nHP0: DDR4\nstream0: stream\nHBM[0]: HBM\n"
                         "0123456789abcdef: host\n"),
    "xrt.h": ("struct dray_buffer *buffer; assert(!dray_buffer_alloc(node, 1, NULL, &buffer));",
              "", "", "XRT"),
    "array/array.h": ("", "", "[[0 0 0 0]\n [0 0 0 0]\n [0 0 0 0]]\n"
                              "shape (3,4), type <f4\n"),
    "array/arrow.h": ("", "", "+w:4\n"),
    "array/cast.h": ("", "assert(sum_of(floats) == 66);", ""),
    "array/dlpack.h": ("", "assert(imported->data == array->data);", ""),
    "array/executor.h": ("struct dray_stream *tx, *rx;"
                         'assert(!dray_stream_open(node, "tx0", NULL, &tx));'
                         'assert(!dray_stream_open(node, "rx0", NULL, &rx));'
                         "from.dtype = to.dtype = DRAY_UINT8;"
                         "from.shape[1] = to.shape[1] = 32;"
                         "from.strides[1] = to.strides[1] = 1;",
                         "ret = dray_event_wait(event, -1); dray_event_unref(event);"
                         "dray_call_queue_destroy(queue); dray_executor_unref(fpga);"
                         "dray_stream_close(tx); dray_stream_close(rx);", ""),
    "array/fp_state.h": ("", "assert(before.divide == DRAY_FP_WARN);", ""),
    "array/index.h": ("", "assert(sum_of(picked) == 44);", ""),
    "array/iterator.h": ("", "", "0 1 2 3 4 5 6 7 8 9 10 11 "),
    "array/linear.h": ("", "assert(sum_of(product) == 1134);", ""),
    "array/nditer.h": ("struct dray_view in = view; struct dray_array *out;",
                       "assert(sum_of(out) == 66);", ""),
    "array/npy.h": ("", "assert(sum_of(loaded) == 66);", ""),
    "array/reduce.h": ("", "assert(sum_of(sums) == 66); dray_array_unref(sums);", ""),
    "array/sequence.h": ("", "assert(sum_of(out) == 506 + 66); dray_array_unref(out);"
                             "dray_sequence_destroy(sequence);", ""),
    "array/sorting.h": ("assert(!dray_view_flip(&view, NULL, 0, &view));",
                        "assert(*(double *)view.data == 8);", ""),
    "array/statistics.h": ("", "assert(sum_of(means) == 22);", ""),
    "array/strings.h": ("", "", "tx0\n"),
    "array/ufunc.h": ("", "assert(sum_of(sum) == 132); dray_array_unref(sum);", ""),
    "array/xrt_array.h": ("struct dray_xrt_device *device; ret = dray_xrt_device_open(0, &device);"
                          "if (ret) return ret;", "", "", "XRT"),
}


def with_page():
    """Headers with an opening comment, by name: their texts."""
    texts = {str(header.relative_to(HEADERS)): header.read_text(encoding="utf-8")
             for header in HEADERS.rglob("*.h")}
    return {name: text for name, text in texts.items() if re.search(r"^/\*\n", text, re.MULTILINE)
            and name not in ("dray.h", "array.h")}


def test_each_header_has_an_example_here():
    assert set(with_page()) == set(EXAMPLES)


@pytest.mark.parametrize("header", EXAMPLES)
def test_an_example_runs(header, tmp_path):
    lines = reference.example(re.search(r"/\*\n.*?\*/", with_page()[header], re.DOTALL)[0])
    assert 3 <= len(list(filter(None, lines))) <= 30
    before, after, output, *refusal = EXAMPLES[header]
    opencl, mpi, ucx = (header == name for name in ("opencl.h", "mpi.h", "ucx.h"))
    if mpi and not shutil.which("mpicc"):
        pytest.skip("there is no MPI; suite mpi has one")
    if ucx and not Path("/usr/include/ucp/api/ucp.h").exists():
        pytest.skip("there is no UCX; suite rdma has it")
    libraries = ["core", "array"] + ["opencl"] * opencl
    if not all(list((USERSPACE / name).glob("libdray*.so")) for name in libraries):
        pytest.skip("the build is without arrays or OpenCL")
    (tmp_path / "design.xclbin").write_bytes(xclbin_file.xclbin(xclbin_file.BANKS))
    program = PROGRAM % (before, "\n".join(lines), after)
    subprocess.run(
        ["mpicc" if mpi else "cc", "-Wall", "-Wextra", "-Werror", f"-DEXAMPLE_OPENCL={opencl:d}",
         f"-DEXAMPLE_MPI={mpi:d}", f"-DEXAMPLE_UCX={ucx:d}", "-o", "program",
         "-x", "c", "-", f"-I{TREE}/include", f"-I{TREE}/include/uapi",
         *(f"-L{USERSPACE / name}" for name in libraries),
         *(f"-Wl,-rpath,{USERSPACE / name}" for name in libraries),
         *["-ldray-opencl"] * opencl, "-ldray-array", "-ldray",
         *["-lucp", "-lucs"] * ucx],
        input=program, text=True, cwd=tmp_path, check=True)
    environment = dict(os.environ, LC_ALL="C", DRAY_BACKEND="host")
    said = subprocess.run("./program", text=True, capture_output=True, cwd=tmp_path,
                          env=environment, check=False)
    if refusal and said.returncode:
        assert refusal[0] in said.stderr
    else:
        assert (said.returncode, said.stderr, said.stdout) == (0, "", output)
