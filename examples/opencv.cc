// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * OpenCV in dray's memory: frames of a camera are filtered by OpenCV, and a queue
 * copies a tile of the result with its strides.
 *
 * dray/array/opencv.hpp makes mats over blocks of a pool.  A device reaches them at any
 * time, and no frame is copied between OpenCV and dray.
 */
#include <dray/array.h>
#include <dray/array/opencv.hpp>
#include <cstdlib>
#include <iostream>
#include <opencv2/imgproc.hpp>
#include <stdexcept>

/* Drops what C gives. */
struct drop {
	void operator()(dray_node *node) const { dray_node_unref(node); }
	void operator()(dray_pool *pool) const { dray_pool_close(pool); }
	void operator()(dray_queue *queue) const { dray_queue_destroy(queue); }
	void operator()(dray_array *array) const { dray_array_unref(array); }
};

template <typename T> using held = std::unique_ptr<T, drop>;

static void check(int ret)
{
	if (ret)
		throw std::runtime_error(dray_last_error());
}

/* Draws a bright disk that moves to the right: frame 0, 1, ... */
static void draw(cv::Mat &frame, int number)
{
	frame.setTo(cv::Scalar(40, 40, 40));
	cv::circle(frame, cv::Point(100 + 30 * number, 120), 50,
		   cv::Scalar(30, 200, 220), cv::FILLED);
}

/* All mats that OpenCV makes here lie in the pool, also those that it hides. */
static cv::Mat filter(const cv::Mat &frame, dray::mat_allocator &allocator)
{
	dray::mat_scope scope(allocator);
	cv::Mat gray, smooth, mask;

	cv::cvtColor(frame, gray, cv::COLOR_BGR2GRAY);
	cv::GaussianBlur(gray, smooth, cv::Size(5, 5), 0);
	cv::threshold(smooth, mask, 100, 255, cv::THRESH_BINARY);
	return mask;
}

/* Copies the tile to an array, of which it returns a mat, and tells who did. */
static cv::Mat copy(dray_queue *queue, dray_pool *pool, const cv::Mat &tile,
		    const char **by)
{
	const int64_t shape[] = { tile.rows, tile.cols };
	dray_view source = dray::view_of(tile), target;
	dray_array *array = nullptr;
	dray_fence *fence = nullptr;
	int ret;

	check(dray_array_create(pool, source.dtype, 2, shape, &array));
	held<dray_array> holder(array);
	check(dray_copy(queue, dray_array_view(array, &target), &source, 0,
			&fence));
	*by = dray_fence_fd(fence) < 0 ? "the CPU" : "an engine";
	ret = dray_fence_wait(fence, 10000);
	dray_fence_unref(fence);
	check(ret);
	/* The mat keeps the array. */
	return dray::mat_of(array);
}

static void run()
{
	dray_queue *its_queue = nullptr;
	dray_node *its_node = nullptr;
	dray_pool *its_pool = nullptr;
	dray_location place;

	/* NULL opens the module's first node, or the host without a module. */
	check(dray_node_open(nullptr, &its_node));
	held<dray_node> node(its_node);
	check(dray_pool_create(its_node, nullptr, &its_pool));
	held<dray_pool> pool(its_pool);
	check(dray_queue_create(its_node, nullptr, &its_queue));
	held<dray_queue> queue(its_queue);

	dray::mat_allocator allocator(its_pool);
	cv::Mat frame = allocator.mat(240, 320, CV_8UC3), mask, tile;
	const char *by;
	int i;

	for (i = 0; i < 4; i++) {
		draw(frame, i);
		mask = filter(frame, allocator);
		/* The queue knows its memory. */
		check(dray_locate(mask.data, &place));

		cv::Rect where = cv::boundingRect(mask);
		cv::Mat source = mask(where);

		tile = copy(its_queue, its_pool, source, &by);
		if (cv::norm(tile, source, cv::NORM_INF) != 0)
			throw std::runtime_error("the copy differs");
		std::cout << "frame " << i << ": a tile of " << where.size()
			  << " at column " << where.x << " in rows of "
			  << source.step << " bytes, copied by " << by << ": "
			  << cv::countNonZero(tile) << " bright pixels" << std::endl;
	}
}

int main()
{
	try {
		run();
	} catch (const std::exception &e) {
		std::cerr << "opencv: " << e.what() << std::endl;
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
