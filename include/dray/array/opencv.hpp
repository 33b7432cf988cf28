/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * opencv: mats of OpenCV in dray's memory, for C++11.
 *
 * Only programs that use OpenCV include this header.  It needs the core module of
 * OpenCV 4.5 or later (tested: 4.6), and is not part of the library: all of it is
 * inline.  A mat here is a cv::Mat.
 *
 * A failure is a cv::Exception with dray's sentence.  Every function may be called
 * from any thread; as OpenCV has it, one mat is changed by one thread at a time.
 *
 * A mat knows nothing of transfers: before OpenCV touches memory that a queue or
 * a stream still uses, call dray_view_wait().  Without its last mat, a block that
 * an engine still uses is parked until the engine is done.
 */
#ifndef DRAY_OPENCV_HPP
#define DRAY_OPENCV_HPP

#include <cerrno>
#include <climits>
#include <memory>
#include <utility>
#include <opencv2/core.hpp>
#include <dray/array/array.h>
#include <dray/handler.h>
#include <dray/kind.h>

#if CV_VERSION_MAJOR != 4 || CV_VERSION_MINOR < 5
#error "dray/array/opencv.hpp needs OpenCV 4.5 or later, and not 5"
#endif

namespace dray
{

/** The most axes of a mat: CV_MAX_DIM, which only OpenCV's headers for C have. */
enum { MAT_MAX_DIMS = 32 };

namespace detail
{

/* Throws @code with the sentence of this thread's last failure. */
[[noreturn]] inline void fail(int code, const char *function)
{
	cv::error(code, dray_last_error(), function, __FILE__, __LINE__);
}

inline void check(int ret, const char *function)
{
	if (ret)
		fail(ret == -ENOMEM ? cv::Error::StsNoMem :
				      cv::Error::StsBadArg, function);
}

[[noreturn]] inline void refuse(const cv::String &sentence,
				const char *function)
{
	cv::error(cv::Error::StsBadArg, sentence, function, __FILE__, __LINE__);
}

/*
 * Describes memory of somebody else for a mat.  OpenCV's own allocator ends it:
 * it leaves the memory alone, and drops @owner.
 */
inline cv::UMatData *describe(void *data, size_t size,
			      std::shared_ptr<void> owner)
{
	cv::UMatData *u = new cv::UMatData(cv::Mat::getStdAllocator());

	u->data = u->origdata = static_cast<uchar *>(data);
	u->size = size;
	u->flags = cv::UMatData::USER_ALLOCATED;
	u->allocatorContext = std::move(owner);
	return u;
}

/* A mat over the memory of @u, which is dropped with the last such mat. */
inline cv::Mat header(int dims, const int *sizes, int type,
		      const size_t *steps, std::unique_ptr<cv::UMatData> u)
{
	cv::Mat mat(dims, sizes, type, u->data, steps);

	mat.u = u.release();
	mat.addref();
	return mat;
}

/* The types of OpenCV's depths, in their order: CV_8U is 0, CV_16F is 7. */
inline const dray_dtype *depths()
{
	static const dray_dtype types[] = {
		DRAY_UINT8, DRAY_INT8, DRAY_UINT16, DRAY_INT16,
		DRAY_INT32, DRAY_FLOAT32, DRAY_FLOAT64, DRAY_FLOAT16,
	};

	static_assert(CV_DEPTH_MAX == sizeof(types) / sizeof(*types),
		      "the depths of OpenCV 4");
	return types;
}

inline int depth_of(dray_dtype type)
{
	int depth;

	for (depth = 0; depth < CV_DEPTH_MAX; depth++)
		if (depths()[depth] == type)
			return depth;
	refuse("mat_of: no depth of OpenCV has the array's type", __func__);
}

/* The shape of a mat. */
struct shape {
	int sizes[MAT_MAX_DIMS];
	size_t steps[MAT_MAX_DIMS];
	size_t size;	/* bytes */
};

/* Takes @dims axes, whose elements have @inner bytes, a multiple of @one. */
inline shape shape_of(const dray_array_axis *axes, int dims, int64_t inner,
		      int64_t one)
{
	shape found = {};
	bool empty = false;
	int i;

	for (i = 0; i < dims; i++)
		empty |= !axes[i].size;
	/* A mat has two axes at least. */
	found.sizes[0] = found.sizes[1] = 1;
	found.steps[0] = found.steps[1] = size_t(inner);
	for (i = dims - 1; i >= 0; i--) {
		/* Without a second element, a stride leads nowhere. */
		bool unused = empty || axes[i].size < 2;
		int64_t stride = unused ? inner : axes[i].stride;

		if (axes[i].size > INT_MAX)
			refuse(cv::format("mat_of: axis %d has %lld elements, a "
					  "mat up to %d", i,
					  (long long)axes[i].size, INT_MAX),
			       __func__);
		if (stride < inner || stride % one ||
		    (i == dims - 1 && i && stride != inner))
			refuse(cv::format("mat_of: axis %d has a stride of %lld "
					  "bytes; a mat has %lld, or in front of "
					  "the last axis a larger multiple of "
					  "%lld", i, (long long)stride,
					  (long long)inner, (long long)one),
			       __func__);
		found.sizes[i] = int(axes[i].size);
		found.steps[i] = size_t(stride);
		inner = empty ? stride : stride * axes[i].size;
	}
	found.size = size_t(inner);
	return found;
}

} /* namespace detail */

/**
 * An allocator for mats: their elements lie in blocks of a handler.
 *
 * A mat takes it from its field allocator, or if that is NULL, from OpenCV's
 * default (class mat_scope).  Beware: if a mat's own allocator fails, OpenCV takes
 * ordinary memory and says nothing.  The default and mat() throw instead.
 *
 * Mats keep their block and may outlive the allocator and the pool.  But a field
 * that names the allocator must not be used after its end.
 */
class mat_allocator : public cv::MatAllocator {
public:
	/**
	 * @pool: blocks come from dray_handler_for(@pool); mats that are made
	 *	after dray_pool_close() are refused
	 * @row: rows begin at multiples of so many bytes from the first, a power
	 *	of two up to 1 MiB.  1 leaves no gaps; with others most mats are
	 *	not continuous, which some functions of OpenCV require.  A mat of
	 *	one column never has gaps
	 *
	 * Throws StsBadArg: NULL, another @row.
	 */
	explicit mat_allocator(dray_pool *pool, size_t row = 1)
		: mat_allocator(dray_handler_for(pool), row)
	{
	}

	/** @handler: any, such as a split one; stays valid as long as its mats */
	explicit mat_allocator(const dray_handler *handler, size_t row = 1)
		: handler_(handler), row_(row)
	{
		if (!handler)
			detail::refuse("mat_allocator: no pool, and no handler",
				       __func__);
		if (!row || row & (row - 1) || row > 1 << 20)
			detail::refuse(cv::format("mat_allocator: rows at "
						  "multiples of %zu bytes: not a "
						  "power of two up to 1048576",
						  row), __func__);
	}

	/**
	 * Makes a mat with undefined elements, always in a block of the handler.
	 * Its field allocator stays NULL: if a function of OpenCV gives it
	 * another size or type, it gets memory of the default allocator.
	 *
	 * Throws StsNoMem (the handler has no memory) and StsBadArg.
	 */
	cv::Mat mat(int rows, int columns, int type) const
	{
		const int sizes[] = { rows, columns };

		return mat(2, sizes, type);
	}

	/** Does the same for 1 to MAT_MAX_DIMS @dims. */
	cv::Mat mat(int dims, const int *sizes, int type) const
	{
		size_t steps[MAT_MAX_DIMS];
		std::unique_ptr<cv::UMatData> u(
			make(dims, sizes, type, steps));

		return detail::header(dims, sizes, type, steps, std::move(u));
	}

	/** Called by OpenCV.  Memory of the caller's, @data, stays as it is. */
	cv::UMatData *allocate(int dims, const int *sizes, int type, void *data,
			       size_t *step, cv::AccessFlag flags,
			       cv::UMatUsageFlags usage) const override
	{
		size_t steps[MAT_MAX_DIMS];

		if (data)
			return cv::Mat::getStdAllocator()->allocate(
				dims, sizes, type, data, step, flags, usage);
		return make(dims, sizes, type, step ? step : steps);
	}

	/** Called by OpenCV: the CPU reaches all memory of a mat already. */
	bool allocate(cv::UMatData *u, cv::AccessFlag,
		      cv::UMatUsageFlags) const override
	{
		return u;
	}

	/** Called by OpenCV; mats made here end without it. */
	void deallocate(cv::UMatData *u) const override
	{
		cv::Mat::getStdAllocator()->deallocate(u);
	}

private:
	/* Fills @steps, of which the last one is the size of an element. */
	size_t lay_out(int dims, const int *sizes, int type,
		       size_t *steps) const
	{
		size_t total = CV_ELEM_SIZE(type);
		int i;

		if (dims < 1 || dims > MAT_MAX_DIMS || !sizes)
			detail::refuse(cv::format("mat_allocator: %d axes, 1 to "
						  "%d are possible", dims,
						  MAT_MAX_DIMS), __func__);
		for (i = dims - 1; i >= 0; i--) {
			if (i == dims - 2 && sizes[i + 1] > 1 &&
			    total <= SIZE_MAX - row_)
				total = (total + row_ - 1) & ~(row_ - 1);
			steps[i] = total;
			if (sizes[i] < 0 ||
			    __builtin_mul_overflow(total, size_t(sizes[i]),
						   &total))
				detail::refuse(cv::format("mat_allocator: axis "
							  "%d has %d elements of "
							  "%zu bytes", i, sizes[i],
							  steps[i]), __func__);
		}
		return total;
	}

	cv::UMatData *make(int dims, const int *sizes, int type,
			   size_t *steps) const
	{
		size_t size = lay_out(dims, sizes, type, steps);
		const dray_handler *handler = handler_;
		void *block = dray_handler_alloc(handler, size);

		if (!block)
			detail::fail(cv::Error::StsNoMem, __func__);
		/* If this throws, it frees the block. */
		std::shared_ptr<void> owner(block, [handler, size](void *p) {
			dray_handler_free(handler, p, size);
		});
		return detail::describe(block, size, std::move(owner));
	}

	const dray_handler *handler_;
	size_t row_;
};

/**
 * Makes an allocator OpenCV's default until the end of the scope.
 *
 * The default is one for the whole process: all threads get it, also those of
 * OpenCV.  Scopes nest, and end in reverse order.  @allocator outlives the scope.
 */
class mat_scope {
public:
	explicit mat_scope(mat_allocator &allocator)
		: before_(cv::Mat::getDefaultAllocator())
	{
		cv::Mat::setDefaultAllocator(&allocator);
	}
	~mat_scope()
	{
		cv::Mat::setDefaultAllocator(before_);
	}
	mat_scope(const mat_scope &) = delete;
	mat_scope &operator=(const mat_scope &) = delete;

private:
	cv::MatAllocator *before_;
};

/**
 * Describes the elements of @mat, a part of another one too: shape, strides in
 * bytes, type.  If it has two channels or more, they are the last axis; cv::Mat()
 * has the shape (0, 0).  The view may be written, and is valid as long as the
 * mat's memory.
 */
inline dray_view view_of(const cv::Mat &mat)
{
	int64_t shape[MAT_MAX_DIMS + 1] = {}, strides[MAT_MAX_DIMS + 1] = {};
	int ndim = mat.dims ? mat.dims : 2, i;
	dray_view view;

	for (i = 0; i < mat.dims; i++) {
		shape[i] = mat.size[i];
		strides[i] = int64_t(mat.step[i]);
	}
	if (mat.channels() > 1) {
		shape[ndim] = mat.channels();
		strides[ndim++] = int64_t(mat.elemSize1());
	}
	detail::check(dray_view_init(&view, mat.data,
				     detail::depths()[mat.depth()], ndim, shape,
				     strides), __func__);
	return view;
}

/**
 * Makes an array over the memory of @mat, which stays alive as long as the array.
 * Returns one reference.
 *
 * Throws StsNoMem.
 */
inline dray_array *array_of(const cv::Mat &mat)
{
	dray_view view = view_of(mat);
	std::unique_ptr<cv::Mat> owner(new cv::Mat(mat));
	dray_array *array = nullptr;

	detail::check(dray_array_from_pointer(&view, [](void *p) {
		delete static_cast<cv::Mat *>(p);
	}, owner.get(), &array), __func__);
	owner.release();
	return array;
}

/**
 * Makes a mat over the memory of @array, which it keeps (one reference more, until
 * the last such mat).  An array of one axis is a column.
 *
 * @channels: of an element, 1 to CV_CN_MAX.  If not 1, they are the last axis of
 *	the array, which has so many elements without gaps
 *
 * Throws StsBadArg: NULL, a type without a depth or in the other byte order, a
 * read-only array (a mat cannot be), memory of DRAY_MODE_DEVICE, more than
 * MAT_MAX_DIMS axes, an extent above INT_MAX, strides that a mat cannot have
 * (negative, or rows that overlap; the last axis has no gaps, except for a
 * column); StsNoMem.
 */
inline cv::Mat mat_of(dray_array *array, int channels = 1)
{
	const dray_array_axis *axes;
	int64_t one;
	int dims;

	if (!array)
		detail::refuse("mat_of: no array", __func__);
	if (!(array->flags & DRAY_WRITE))
		detail::refuse("mat_of: the array is read-only", __func__);
	if (dray_address_kind(array->data, nullptr) == DRAY_MEMORY_DEVICE)
		detail::refuse("mat_of: the CPU does not reach the array's memory",
			       __func__);
	axes = dray_array_axes(array);
	dims = array->ndim - (channels != 1);
	one = dray_dtype_itemsize(array->dtype);
	if (channels < 1 || channels > CV_CN_MAX || dims < 0 ||
	    (channels != 1 && (axes[dims].size != channels ||
			       axes[dims].stride != one)))
		detail::refuse(cv::format("mat_of: the last axis is not %d "
					  "channels without gaps, of %d at most",
					  channels, CV_CN_MAX), __func__);
	if (dims > MAT_MAX_DIMS)
		detail::refuse(cv::format("mat_of: %d axes, a mat has up to %d",
					  dims, MAT_MAX_DIMS), __func__);

	int type = CV_MAKETYPE(detail::depth_of(array->dtype), channels);
	detail::shape its = detail::shape_of(axes, dims, one * channels, one);
	std::shared_ptr<void> owner(dray_array_ref(array), [](void *p) {
		dray_array_unref(static_cast<dray_array *>(p));
	});
	std::unique_ptr<cv::UMatData> u(
		detail::describe(array->data, its.size, std::move(owner)));
	return detail::header(dims < 2 ? 2 : dims, its.sizes, type, its.steps,
			      std::move(u));
}

} /* namespace dray */

#endif /* DRAY_OPENCV_HPP */
