// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Facts about <dray/array/opencv.hpp>.  With a name the program checks one of them, and
 * prints the values that differ; without it all, as TAP.  DRAY_BACKEND chooses the
 * node, as for all programs.  Operator new fails on demand.
 */
#include <dray/array/opencv.hpp>
#include <dray/array.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <opencv2/core/ocl.hpp>
#include <opencv2/imgproc.hpp>
#include <sstream>
#include <thread>
#include <vector>

struct fact {
	const char *name;
	void (*run)();
	fact *next;
	static fact *first;

	fact(const char *its_name, void (*its_run)())
		: name(its_name), run(its_run), next(first)
	{
		first = this;
	}
};
fact *fact::first;

#define FACT(name)                                  \
	static void name();                         \
	static fact fact_of_##name(#name, name);    \
	static void name()

#define EXPECT(a, b) expect((a), (b), #a, #b, __LINE__)

template <typename A, typename B>
static void expect(const A &a, const B &b, const char *left, const char *right,
		   int line)
{
	std::ostringstream said;

	if (a == b)
		return;
	said << "line " << line << ": " << left << " is " << a << ", not "
	     << right << ": " << b;
	throw std::runtime_error(said.str());
}

/* Ends a fact that needs something else, which @why tells. */
struct skipped {
	const char *why;
};

/* The code and the sentence of a cv::Exception that @run throws. */
static std::string thrown(const std::function<void()> &run)
{
	try {
		run();
	} catch (const cv::Exception &e) {
		return cv::format("%d ", e.code) + e.err;
	}
	return "nothing";
}

/* Allocations until operator new fails once; below 0: it works. */
static thread_local int allocations_left = -1;

void *operator new(size_t size)
{
	void *memory;

	if (allocations_left >= 0 && allocations_left-- == 0)
		throw std::bad_alloc();
	memory = malloc(size);
	if (!memory)
		throw std::bad_alloc();
	return memory;
}

void *operator new(size_t size, const std::nothrow_t &) noexcept
{
	return malloc(size);
}

__attribute__((noinline)) void operator delete(void *memory) noexcept
{
	free(memory);
}

__attribute__((noinline)) void operator delete(void *memory,
						 size_t) noexcept
{
	free(memory);
}

/* A pool, of which all blocks are back at the end of the scope. */
struct memory {
	dray_node *node = nullptr;
	dray_pool *pool = nullptr;

	explicit memory(uint64_t limit = 0)
	{
		dray_pool_options options = {};

		options.limit = limit;
		EXPECT(dray_node_open(nullptr, &node), 0);
		EXPECT(dray_pool_create(node, &options, &pool), 0);
	}
	uint64_t blocks() const
	{
		struct dray_pool_stats stats = {};

		dray_pool_stats(pool, &stats);
		return stats.blocks;
	}
	bool has(const void *address) const
	{
		dray_location found;

		return !dray_locate(address, &found) && found.pool == pool;
	}
	dray_array *array(dray_dtype dtype, const std::vector<int64_t> &shape)
	{
		dray_array *made = nullptr;

		EXPECT(dray_array_create(pool, dtype, int(shape.size()),
					 shape.data(), &made), 0);
		return made;
	}
	void close()
	{
		dray_pool_close(pool);
		dray_node_unref(node);
		pool = nullptr;
		node = nullptr;
	}
	~memory()
	{
		if (pool && !std::uncaught_exceptions() && blocks()) {
			printf("%d blocks are lost\n", int(blocks()));
			exit(EXIT_FAILURE);
		}
		close();
	}
};

static cv::Mat picture()
{
	cv::Mat mat(123, 217, CV_8UC3);

	cv::theRNG().state = 23;
	cv::randu(mat, 0, 256);
	return mat;
}

FACT(a_mat_lies_in_a_block_of_the_pool)
{
	memory m;
	dray::mat_allocator allocator(m.pool);
	cv::Mat mat = allocator.mat(480, 640, CV_8UC3), other = mat;

	EXPECT(m.has(mat.data), true);
	EXPECT(m.has(mat.dataend - 1), true);
	EXPECT(mat.u->size, 480 * 640 * 3u);
	EXPECT(m.blocks(), 1u);
	mat.release();
	EXPECT(m.blocks(), 1u);
	other.release();
	EXPECT(m.blocks(), 0u);
}

FACT(a_mat_of_each_type_and_number_of_axes_has_the_steps_of_ordinary_ones)
{
	const int sizes[] = { 3, 1, 4, 2, 5 };
	memory m;
	dray::mat_allocator allocator(m.pool);
	int dims, type;

	for (dims = 1; dims <= 5; dims++)
		for (type = 0; type < 5 * CV_DEPTH_MAX; type++) {
			cv::Mat a = allocator.mat(dims, sizes, type),
				b(dims, sizes, type);

			EXPECT(a.type(), type);
			EXPECT(a.size == b.size, true);
			EXPECT(std::vector<size_t>(a.step.p, a.step.p + a.dims) ==
			       std::vector<size_t>(b.step.p, b.step.p + b.dims),
			       true);
			EXPECT(a.isContinuous(), true);
			a.setTo(1);
			b.setTo(1);
			EXPECT(memcmp(a.data, b.data, b.total() * b.elemSize()), 0);
		}
}

FACT(rows_begin_at_multiples_of_so_many_bytes)
{
	const int sizes[] = { 3, 5, 7 };
	memory m;
	dray::mat_allocator allocator(m.pool, 64);
	cv::Mat flat = allocator.mat(5, 7, CV_8UC3);
	cv::Mat deep = allocator.mat(3, sizes, CV_16U);

	EXPECT(flat.step[0], 64u);
	EXPECT(deep.step[1], 64u);
	EXPECT(deep.step[0], 5 * 64u);
	EXPECT(flat.isContinuous(), false);
	EXPECT(uintptr_t(flat.ptr(4)) % 64, 0u);
	flat.setTo(cv::Scalar(1, 2, 3));
	EXPECT(cv::sum(flat), cv::Scalar(35, 70, 105));
}

FACT(a_mat_of_one_column_has_no_gaps)
{
	memory m;
	dray::mat_allocator allocator(m.pool, 64);

	EXPECT(allocator.mat(9, 1, CV_32FC2).step[0], 8u);
}

FACT(functions_of_opencv_with_threads_give_the_results_of_ordinary_memory)
{
	auto work = [](const cv::Mat &source) {
		cv::Mat gray, half, blurred, turned, edges;
		std::vector<cv::Mat> planes;

		cv::cvtColor(source, gray, cv::COLOR_BGR2GRAY);
		cv::resize(gray, half, cv::Size(), 0.5, 0.7);
		cv::GaussianBlur(half, blurred, cv::Size(5, 5), 1.1);
		cv::warpAffine(blurred, turned,
			       cv::getRotationMatrix2D({ 50, 40 }, 30, 1.2),
			       cv::Size(100, 90));
		cv::Sobel(turned, edges, CV_32F, 1, 1);
		cv::split(source, planes);
		planes[0].convertTo(gray, CV_32F);
		return std::vector<cv::Mat>{ turned, edges, planes[2], gray };
	};
	std::vector<cv::Mat> ours, theirs = work(picture());
	cv::Mat source = picture();
	size_t row, i;
	memory m;

	for (row = 1; row <= 128; row *= 8) {
		dray::mat_allocator allocator(m.pool, row);
		dray::mat_scope scope(allocator);

		ours = work(source.clone());
		for (i = 0; i < ours.size(); i++) {
			EXPECT(m.has(ours[i].data), true);
			EXPECT(cv::norm(ours[i], theirs[i], cv::NORM_INF), 0);
		}
		ours.clear();
	}
}

FACT(a_scope_ends_with_the_allocator_from_before)
{
	cv::MatAllocator *before = cv::Mat::getDefaultAllocator();
	memory m;
	dray::mat_allocator first(m.pool), second(m.pool);
	{
		dray::mat_scope outer(first);
		{
			dray::mat_scope inner(second);
		}
		EXPECT(cv::Mat::getDefaultAllocator(), &first);
	}
	EXPECT(cv::Mat::getDefaultAllocator(), before);
}

FACT(threads_make_and_drop_mats_of_one_allocator)
{
	memory m;
	dray::mat_allocator allocator(m.pool, 64);
	std::vector<std::thread> threads;
	std::vector<cv::Mat> kept(8);
	std::string wrong[8];
	int i;

	for (i = 0; i < 8; i++)
		threads.emplace_back([&, i] {
			for (int n = 1; n < 300; n++) {
				cv::Mat mat = allocator.mat(n % 50 + 1, n, CV_8U);

				mat.setTo(i);
				if (cv::countNonZero(mat != i))
					wrong[i] = "another thread wrote";
				/* The last reference is another thread's. */
				kept[i] = mat;
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	for (i = 0; i < 8; i++)
		EXPECT(wrong[i], "");
	EXPECT(m.blocks(), 8u);
}

FACT(a_full_pool_is_an_exception_and_loses_nothing)
{
	memory m(1 << 20);
	dray::mat_allocator allocator(m.pool);
	cv::Mat half = allocator.mat(512, 1024, CV_8U);
	std::string said = thrown([&] { allocator.mat(1024, 1024, CV_8U); });

	EXPECT(said, cv::format("%d %s", cv::Error::StsNoMem, dray_last_error()));
	EXPECT(said.find("1048576") != std::string::npos, true);
	EXPECT(m.blocks(), 1u);
	EXPECT(m.has(allocator.mat(100, 100, CV_8U).data), true);
}

FACT(a_full_pool_ends_a_function_of_opencv_in_a_scope)
{
	memory m(1 << 20);
	dray::mat_allocator allocator(m.pool);
	cv::Mat source = picture(), result;
	dray::mat_scope scope(allocator);

	EXPECT(thrown([&] {
		cv::resize(source, result, cv::Size(2000, 2000));
	}).substr(0, 3), "-4 ");
	EXPECT(m.blocks(), 0u);
	cv::resize(source, result, cv::Size(20, 20));
	EXPECT(m.has(result.data), true);
}

/* As its comment warns: OpenCV swallows the exception. */
FACT(a_mats_own_allocator_that_fails_is_replaced_by_opencv)
{
	memory m(1 << 20);
	dray::mat_allocator allocator(m.pool);
	cv::Mat mat;

	mat.allocator = &allocator;
	mat.create(10, 10, CV_8U);
	EXPECT(m.has(mat.data), true);
	mat.create(2000, 2000, CV_8U);
	EXPECT(m.has(mat.data), false);
}

FACT(memory_of_the_caller_stays_the_callers)
{
	static uchar bytes[4 * 16];
	/* CV_AUTOSTEP, which only OpenCV's headers for C have. */
	size_t given[] = { 16, 0x7fffffff };
	const int sizes[] = { 4, 5 };
	memory m;
	dray::mat_allocator allocator(m.pool, 64);
	cv::UMatData *u = allocator.allocate(2, sizes, CV_16U, bytes, given,
					     cv::ACCESS_RW,
					     cv::USAGE_DEFAULT);

	EXPECT(u->data, bytes);
	EXPECT(u->size, sizeof(bytes));
	EXPECT(given[0], 16u);
	EXPECT(given[1], 2u);
	allocator.deallocate(u);
	EXPECT(m.blocks(), 0u);
}

FACT(umats_use_the_same_memory)
{
	memory m;
	dray::mat_allocator allocator(m.pool);
	cv::Mat mat = allocator.mat(20, 30, CV_8U);

	cv::ocl::setUseOpenCL(false);
	mat.setTo(7);
	{
		cv::UMat shared = mat.getUMat(cv::ACCESS_RW);

		cv::add(shared, 1, shared);
		EXPECT(shared.getMat(cv::ACCESS_READ).data, mat.data);
	}
	EXPECT(int(mat.at<uchar>(19, 29)), 8);

	dray::mat_scope scope(allocator);
	cv::UMat umat(20, 30, CV_8U), part;

	EXPECT(m.has(umat.getMat(cv::ACCESS_READ).data), true);
	{
		dray::mat_allocator gaps(m.pool, 64);
		cv::Mat source = gaps.mat(20, 30, CV_8U);

		source.setTo(5);
		source(cv::Rect(3, 4, 5, 6)).getUMat(cv::ACCESS_READ).copyTo(part);
	}
	EXPECT(cv::sum(part)[0], 5 * 5 * 6);
}

FACT(opencl_works_on_a_mat_and_gives_it_back)
{
	memory m;
	dray::mat_allocator allocator(m.pool);
	dray::mat_scope scope(allocator);
	cv::Mat mat = allocator.mat(200, 300, CV_8U);

	if (!getenv("OPENCV_OPENCL_DEVICE"))
		throw skipped{ "no device of OpenCL is named" };
	cv::ocl::setUseOpenCL(true);
	EXPECT(cv::ocl::useOpenCL(), true);
	mat.setTo(7);
	{
		cv::UMat shared = mat.getUMat(cv::ACCESS_RW), sum;

		cv::add(shared, 1, shared);
		cv::add(shared, shared, sum);
		EXPECT(cv::sum(sum.getMat(cv::ACCESS_READ))[0], 16 * 60000);
	}
	EXPECT(cv::sum(mat)[0], 8 * 60000);
}

FACT(mats_outlive_the_allocator_and_the_pool)
{
	cv::Mat mat, other;
	memory m;
	{
		dray::mat_allocator allocator(m.pool);

		mat = allocator.mat(100, 100, CV_8U);
		other = mat.rowRange(3, 9);
	}
	m.close();
	mat.setTo(3);
	mat.release();
	EXPECT(cv::sum(other)[0], 3 * 600);
}

FACT(small_mats_of_a_split_handler_stay_in_ordinary_memory)
{
	const dray_handler *split = nullptr;
	memory m;

	EXPECT(dray_handler_split(m.pool, 4096, dray_handler_default(), &split), 0);
	{
		dray::mat_allocator allocator(split);

		EXPECT(m.has(allocator.mat(63, 64, CV_8U).data), false);
		EXPECT(m.has(allocator.mat(64, 64, CV_8U).data), true);
	}
	EXPECT(dray_handler_split_end(split), 0);
}

FACT(bad_arguments_are_refused_with_their_value)
{
	const int sizes[33] = { 1, 1, -3 }, huge[] = { INT_MAX, INT_MAX, INT_MAX };
	dray_pool *none = nullptr;
	memory m;
	dray::mat_allocator allocator(m.pool, 64);

	EXPECT(thrown([&] { dray::mat_allocator a(none); }),
	       "-5 mat_allocator: no pool, and no handler");
	EXPECT(thrown([&] { dray::mat_allocator a(m.pool, 48); }),
	       "-5 mat_allocator: rows at multiples of 48 bytes: not a power of "
	       "two up to 1048576");
	EXPECT(thrown([&] { dray::mat_allocator a(m.pool, 2 << 20); }).substr(0, 3),
	       "-5 ");
	EXPECT(thrown([&] { dray::mat_allocator a(m.pool, 0); }).substr(0, 3),
	       "-5 ");
	EXPECT(thrown([&] { allocator.mat(0, sizes, CV_8U); }),
	       "-5 mat_allocator: 0 axes, 1 to 32 are possible");
	EXPECT(thrown([&] { allocator.mat(33, sizes, CV_8U); }),
	       "-5 mat_allocator: 33 axes, 1 to 32 are possible");
	EXPECT(thrown([&] { allocator.mat(3, sizes, CV_8U); }),
	       "-5 mat_allocator: axis 2 has -3 elements of 1 bytes");
	EXPECT(thrown([&] { allocator.mat(3, huge, CV_64FC4); }).substr(0, 3),
	       "-5 ");
}

FACT(a_view_has_the_shape_strides_and_type_of_its_mat)
{
	static const dray_dtype dtypes[] = {
		DRAY_UINT8, DRAY_INT8, DRAY_UINT16, DRAY_INT16,
		DRAY_INT32, DRAY_FLOAT32, DRAY_FLOAT64, DRAY_FLOAT16,
	};
	const int sizes[] = { 2, 3, 4 };
	int depth, channels;

	for (depth = 0; depth < CV_DEPTH_MAX; depth++)
		for (channels = 1; channels < 5; channels++) {
			cv::Mat mat(3, sizes, CV_MAKETYPE(depth, channels));
			dray_view view = dray::view_of(mat);

			EXPECT(view.data, mat.data);
			EXPECT(view.dtype, dtypes[depth]);
			EXPECT(view.ndim, channels == 1 ? 3 : 4);
			EXPECT(dray_view_size(&view), 24 * channels);
			EXPECT(view.strides[1], int64_t(mat.step[1]));
			EXPECT(dray_view_is_contiguous(&view), true);
		}
}

FACT(an_empty_mat_has_an_empty_view)
{
	dray_view view = dray::view_of(cv::Mat());

	EXPECT(view.ndim, 2);
	EXPECT(dray_view_size(&view), 0);
	EXPECT(dray::view_of(cv::Mat(0, 5, CV_32F)).shape[1], 5);
}

FACT(a_queue_copies_a_part_of_a_mat_with_its_strides)
{
	memory m;
	dray::mat_allocator allocator(m.pool, 64);
	cv::Mat mat = allocator.mat(123, 217, CV_8UC3);
	cv::Rect tile(11, 12, 40, 30);
	dray_array *array = m.array(DRAY_UINT8, { 30, 40, 3 });
	dray_view source = dray::view_of(mat(tile)), target;
	dray_queue *queue = nullptr;

	picture().copyTo(mat);
	EXPECT(source.strides[0], int64_t(mat.step[0]));
	EXPECT(dray_queue_create(m.node, nullptr, &queue), 0);
	EXPECT(dray_copy(queue, dray_array_view(array, &target), &source, 0,
			 nullptr), 0);
	EXPECT(cv::norm(dray::mat_of(array, 3), picture()(tile), cv::NORM_INF), 0);
	dray_queue_destroy(queue);
	dray_array_unref(array);
}

FACT(a_mat_of_an_array_keeps_the_array)
{
	memory m;
	dray_array *array = m.array(DRAY_FLOAT32, { 4, 5, 3 });
	cv::Mat mat = dray::mat_of(array, 3), part = mat(cv::Rect(1, 1, 2, 2));

	EXPECT(mat.type(), CV_32FC3);
	EXPECT(mat.rows, 4);
	EXPECT(mat.cols, 5);
	EXPECT(mat.data, array->data);
	EXPECT(dray_block_count(&array->block), 2u);
	mat.release();
	dray_array_unref(array);
	part.setTo(cv::Scalar(1, 2, 3));
	EXPECT(m.blocks(), 1u);
	part.release();
	EXPECT(m.blocks(), 0u);
}

FACT(an_array_of_each_number_of_axes_has_a_mat)
{
	static const std::vector<int64_t> shapes[] = {
		{}, { 6 }, { 6, 2 }, { 1, 6 }, { 2, 3, 4 }, { 0, 3 }, { 3, 0, 2 },
	};
	memory m;

	for (const std::vector<int64_t> &shape : shapes) {
		dray_array *array = m.array(DRAY_INT16, shape);
		cv::Mat mat = dray::mat_of(array);
		dray_view view;

		EXPECT(mat.dims, shape.size() < 2 ? 2 : int(shape.size()));
		EXPECT(mat.step[0] > 0, true);
		EXPECT(int64_t(mat.total()),
		       dray_view_size(dray_array_view(array, &view)));
		if (!mat.empty())
			EXPECT(mat.isContinuous(), true);
		dray_array_unref(array);
	}
}

/* A part of a new array of bytes, with a mat of it or the sentence. */
static std::string mat_of_part(memory &m, std::vector<int64_t> shape,
			       const std::vector<dray_index> &index,
			       int channels = 1)
{
	dray_array *whole = m.array(DRAY_INT16, shape), *part = nullptr;
	dray_view view;
	std::string said;

	dray_array_view(whole, &view);
	EXPECT(dray_view_index(&view, index.data(), int(index.size()), &view), 0);
	EXPECT(dray_array_over(&view, &whole->block, &part), 0);
	said = thrown([&] {
		cv::Mat mat = dray::mat_of(part, channels);

		said = cv::format("%dx%d step %zu", mat.rows, mat.cols,
				  mat.step[0]);
		mat.setTo(1);
	});
	EXPECT(dray_block_count(&part->block), 1u);
	dray_array_unref(part);
	dray_array_unref(whole);
	return said;
}

FACT(rows_of_an_array_may_have_gaps)
{
	memory m;

	EXPECT(mat_of_part(m, { 8, 10 }, { DRAY_STEP(2), DRAY_SLICE(3, 7, 1) }),
	       "nothing");
	EXPECT(mat_of_part(m, { 12 }, { DRAY_STEP(3) }), "nothing");
	EXPECT(mat_of_part(m, { 12, 9 }, { DRAY_ALL, DRAY_SLICE(0, 1, 1) }),
	       "nothing");
	EXPECT(mat_of_part(m, { 5, 6, 3 }, { DRAY_ALL, DRAY_SLICE(1, 4, 1) }, 3),
	       "nothing");
}

FACT(strides_that_a_mat_cannot_have_are_refused)
{
	memory m;

	EXPECT(mat_of_part(m, { 8, 10 }, { DRAY_ALL, DRAY_STEP(2) }),
	       "-5 mat_of: axis 1 has a stride of 4 bytes; a mat has 2, or in "
	       "front of the last axis a larger multiple of 2");
	EXPECT(mat_of_part(m, { 8, 10 }, { DRAY_STEP(-1) }),
	       "-5 mat_of: axis 0 has a stride of -20 bytes; a mat has 20, or in "
	       "front of the last axis a larger multiple of 2");
	EXPECT(mat_of_part(m, { 8, 10, 4 }, { DRAY_ALL }, 3),
	       "-5 mat_of: the last axis is not 3 channels without gaps, of 512 "
	       "at most");
	EXPECT(mat_of_part(m, { 8, 10, 4 },
			   { DRAY_ALL, DRAY_ALL, DRAY_STEP(2) }, 2).substr(0, 3),
	       "-5 ");
	EXPECT(mat_of_part(m, { 8, 10, 3 },
			   { DRAY_ALL, DRAY_ALL, DRAY_STEP(-1) }, 3).substr(0, 3),
	       "-5 ");
	EXPECT(mat_of_part(m, { 2 }, {}, 0).substr(0, 3), "-5 ");
	EXPECT(mat_of_part(m, {}, {}, 3).substr(0, 3), "-5 ");
}

FACT(arrays_that_no_mat_can_show_are_refused)
{
	memory m;
	dray_array *array = m.array(DRAY_INT64, { 3, 4 });

	EXPECT(thrown([] { dray::mat_of(nullptr); }), "-5 mat_of: no array");
	EXPECT(thrown([&] { dray::mat_of(array); }),
	       "-5 mat_of: no depth of OpenCV has the array's type");
	array->dtype = DRAY_FLOAT64;
	array->flags &= ~uint64_t(DRAY_WRITE);
	EXPECT(thrown([&] { dray::mat_of(array); }),
	       "-5 mat_of: the array is read-only");
	EXPECT(dray_block_count(&array->block), 1u);
	array->dtype = DRAY_FLOAT16;
	array->flags |= DRAY_WRITE;
	dray_array_axes(array)[0].stride = 9;
	dray_array_axes(array)[1].stride = 2;
	EXPECT(thrown([&] { dray::mat_of(array); }),
	       "-5 mat_of: axis 0 has a stride of 9 bytes; a mat has 8, or in "
	       "front of the last axis a larger multiple of 2");
	dray_array_axes(array)[1].size = INT64_C(1) << 31;
	EXPECT(thrown([&] { dray::mat_of(array); }),
	       "-5 mat_of: axis 1 has 2147483648 elements, a mat up to 2147483647");
	dray_array_unref(array);
	array = m.array(DRAY_UINT8, std::vector<int64_t>(33, 1));
	EXPECT(thrown([&] { dray::mat_of(array); }),
	       "-5 mat_of: 33 axes, a mat has up to 32");
	dray_array_unref(array);
}

FACT(memory_that_the_cpu_does_not_reach_is_refused)
{
	struct dray_buffer_options options = {};
	struct dray_buffer *buffer = nullptr;
	const int64_t shape[] = { 4, 5 };
	dray_array *array = nullptr;
	memory m;

	if (strcmp(dray_node_backend(m.node), "kernel"))
		throw skipped{ "the CPU reaches all memory of the host" };
	options.mode = DRAY_MODE_DEVICE;
	EXPECT(dray_buffer_alloc(m.node, 4096, &options, &buffer), 0);
	EXPECT(dray_array_from_buffer(buffer, 0, DRAY_UINT8, 2, shape, nullptr,
				      &array), 0);
	EXPECT(thrown([&] { dray::mat_of(array); }),
	       "-5 mat_of: the CPU does not reach the array's memory");
	dray_array_unref(array);
	dray_buffer_unref(buffer);
}

FACT(an_array_of_a_mat_keeps_its_memory)
{
	memory m;
	dray_array *array;
	cv::Mat mat;
	{
		dray::mat_allocator allocator(m.pool, 64);
		cv::Mat whole = allocator.mat(20, 30, CV_32SC2);

		whole.setTo(cv::Scalar(4, 5));
		array = dray::array_of(whole.colRange(3, 9));
	}
	EXPECT(m.blocks(), 1u);
	mat = dray::mat_of(array, 2);
	dray_array_unref(array);
	EXPECT(mat.step[0], 256u);
	EXPECT(cv::sum(mat), cv::Scalar(480, 600));
	mat.release();
	EXPECT(m.blocks(), 0u);
}

/* Runs @run again and again, with one more allocation that works. */
static int fails_without_a_trace(const memory &m, const std::function<void()> &run)
{
	uint64_t before = m.blocks();
	int i;

	for (i = 0; i < 100; i++) {
		try {
			allocations_left = i;
			run();
			allocations_left = -1;
			return i;
		} catch (const std::bad_alloc &) {
			allocations_left = -1;
		}
		EXPECT(m.blocks(), before);
	}
	throw std::runtime_error("it never works");
}

FACT(an_allocation_that_fails_loses_no_block)
{
	memory m;
	dray::mat_allocator allocator(m.pool);
	dray_array *array = m.array(DRAY_UINT8, { 30, 40 });
	cv::Mat mat = allocator.mat(5, 5, CV_8U);

	EXPECT(fails_without_a_trace(m, [&] { allocator.mat(9, 9, CV_8U); }), 2);
	EXPECT(fails_without_a_trace(m, [&] { dray::mat_of(array); }), 2);
	EXPECT(fails_without_a_trace(m, [&] {
		dray_array_unref(dray::array_of(mat));
	}), 1);
	EXPECT(dray_block_count(&array->block), 1u);
	dray_array_unref(array);
}

/* Returns 0, 1 for a failure or 77 if it was skipped, with the reason in @said. */
static int check(const fact *it, std::string &said)
{
	try {
		it->run();
	} catch (const skipped &e) {
		said = e.why;
		return 77;
	} catch (const std::exception &e) {
		said = e.what();
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int count = 0, failures = 0, status = 2;
	std::string said;
	fact *it;

	for (it = fact::first; it; it = it->next) {
		if (argc == 2 && strcmp(it->name, argv[1]))
			continue;
		status = check(it, said);
		failures += status == 1;
		count++;
		if (argc == 2)
			printf("%s\n", said.c_str());
		else
			printf("%s %d - %s%s%s\n", status == 1 ? "not ok" : "ok",
			       count, it->name, status ? " # " : "",
			       status == 77 ? ("SKIP " + said).c_str() :
			       status ? said.c_str() : "");
		fflush(stdout);
	}
	if (argc == 2)
		return status;
	printf("1..%d\n", count);
	return failures != 0;
}
