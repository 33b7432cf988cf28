// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Apache Arrow in dray's memory: a MemoryPool over the handler of a pool.  All that
 * Arrow builds with it lies where a device reaches it.  A column then comes back as
 * an array of dray through the C data interface, without a copy.
 */
#include <arrow/api.h>
#include <arrow/c/bridge.h>
#include <dray/array.h>
#include <atomic>
#include <iostream>
#include <stdexcept>

/* Thread-safe as Arrow's own pools; the handler outlives the pool beneath it. */
class pool_of_dray : public arrow::MemoryPool {
public:
	explicit pool_of_dray(dray_pool *over)
		: pool(over), handler(dray_handler_for(over)) {}

	using arrow::MemoryPool::Allocate;
	using arrow::MemoryPool::Free;
	using arrow::MemoryPool::Reallocate;

	arrow::Status Allocate(int64_t size, int64_t alignment,
			       uint8_t **out) override
	{
		return change(nullptr, 0, size, alignment, out);
	}

	arrow::Status Reallocate(int64_t old_size, int64_t size,
				 int64_t alignment, uint8_t **block) override
	{
		return change(*block, old_size, size, alignment, block);
	}

	void Free(uint8_t *block, int64_t size, int64_t) override
	{
		const dray_allocator &allocator = handler->allocator;

		allocator.free(allocator.ctx, block, size_t(size));
		count(-size);
	}

	void ReleaseUnused() override { dray_pool_trim(pool); }
	int64_t bytes_allocated() const override { return now; }
	int64_t max_memory() const override { return peak; }
	int64_t total_bytes_allocated() const override { return total; }
	int64_t num_allocations() const override { return calls; }
	std::string backend_name() const override { return handler->name; }

private:
	/* Blocks of a handler begin at a multiple of 64 bytes, also if they move. */
	arrow::Status change(uint8_t *old, int64_t old_size, int64_t size,
			     int64_t alignment, uint8_t **out)
	{
		const dray_allocator &allocator = handler->allocator;
		void *block;

		if (alignment > arrow::kDefaultBufferAlignment)
			return arrow::Status::Invalid(alignment, " above 64");
		block = allocator.realloc(allocator.ctx, old, size_t(size));
		if (!block)
			return arrow::Status::OutOfMemory(dray_last_error());
		*out = static_cast<uint8_t *>(block);
		count(size - old_size);
		total += size > old_size ? size - old_size : 0;
		calls++;
		return arrow::Status::OK();
	}

	void count(int64_t bytes)
	{
		int64_t used = now += bytes, most = peak;

		while (used > most && !peak.compare_exchange_weak(most, used)) {
		}
	}

	dray_pool *pool;
	const dray_handler *handler;
	std::atomic<int64_t> now{ 0 }, peak{ 0 }, total{ 0 }, calls{ 0 };
};

static void check(int ret)
{
	if (ret)
		throw std::runtime_error(dray_last_error());
}

static void check(const arrow::Status &status)
{
	if (!status.ok())
		throw std::runtime_error(status.ToString());
}

/* Builds a column that grows several times, with a null in it. */
static std::shared_ptr<arrow::Array> build(arrow::MemoryPool *memory)
{
	arrow::DoubleBuilder builder(memory);

	check(builder.AppendNull());
	for (int i = 1; i < 100000; i++)
		check(builder.Append(i / 2.0));
	return builder.Finish().ValueOrDie();
}

/* Passes a column to dray without a copy: an array, and a mask of its nulls. */
static void pass(const arrow::Array &column)
{
	dray_array *array = nullptr, *mask = nullptr;
	ArrowSchema schema;
	ArrowArray moved;
	dray_location place;
	dray_view view;

	check(arrow::ExportArray(column, &moved, &schema));
	check(dray_arrow_import(&schema, &moved, 0, -1, &array, &mask));
	schema.release(&schema);
	check(dray_locate(array->data, &place));
	std::cout << dray_view_size(dray_array_view(array, &view))
		  << " numbers at byte " << uintptr_t(array->data) % 64
		  << " of a line, in a block of " << place.block_size
		  << " bytes; the first is "
		  << (mask && *static_cast<char *>(mask->data) ? "null" : "a number")
		  << '\n';
	dray_array_unref(mask);
	dray_array_unref(array);
}

int main()
try {
	struct dray_pool_stats stats = {};
	dray_node *node = nullptr;
	dray_pool *pool = nullptr;

	check(dray_node_open(nullptr, &node));
	check(dray_pool_create(node, nullptr, &pool));
	pool_of_dray memory(pool);
	pass(*build(&memory));
	check(dray_pool_stats(pool, &stats));
	std::cout << memory.backend_name() << ": " << memory.bytes_allocated()
		  << " bytes are left of at most " << memory.max_memory()
		  << ", in " << stats.blocks << " blocks\n";
	dray_pool_close(pool);
	dray_node_unref(node);
	return 0;
} catch (const std::exception &error) {
	std::cerr << error.what() << '\n';
	return 1;
}
