// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * block_cpp: the headers in a C++ program, and the inlined counts under the
 * smart pointer that such a program would write.
 */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

extern "C" {
#include <cmocka.h>
}

#include <dray/array.h>

namespace
{

class block_pointer {
    public:
	explicit block_pointer(dray_block *adopted = nullptr)
		: block(adopted)
	{
	}
	block_pointer(const block_pointer &other)
		: block(dray_block_ref(other.block))
	{
	}
	block_pointer(block_pointer &&other) noexcept
		: block(std::exchange(other.block, nullptr))
	{
	}
	block_pointer &operator=(block_pointer other) noexcept
	{
		std::swap(block, other.block);
		return *this;
	}
	~block_pointer()
	{
		dray_block_unref(block);
	}
	dray_block *get() const
	{
		return block;
	}

    private:
	dray_block *block;
};

void release(void *owner)
{
	++*static_cast<int *>(owner);
}

void a_smart_pointer_counts(void **)
{
	int released = 0;
	char byte = 0;
	dray_block *made = nullptr;

	assert_int_equal(dray_block_create_external(&byte, 1, DRAY_READ,
						    release, &released, &made),
			 0);
	{
		block_pointer first(made);
		assert_int_equal(dray_block_count(made), 1);
		block_pointer second = first;
		assert_int_equal(dray_block_count(made), 2);
		block_pointer third = std::move(first);
		assert_int_equal(dray_block_count(made), 2);
		second = block_pointer();
		assert_int_equal(dray_block_count(made), 1);
		assert_int_equal(dray_block_type(third.get()),
				 DRAY_BLOCK_EXTERNAL);
		assert_int_equal(released, 0);
	}
	assert_int_equal(released, 1);
}

/* As a producer of strings of unknown length does it: more, and then less. */
void an_arena_is_filled(void **)
{
	const dray_block_allocator *with = nullptr;
	const std::string text = "of a length that nobody knew";
	dray_block *made = nullptr;
	char *begin = nullptr, *end = nullptr;
	std::size_t used = 0;

	assert_int_equal(dray_block_create_zeroed(nullptr, &made), 0);
	block_pointer arena(made);
	assert_int_equal(dray_block_get_allocator(made, &with), 0);
	assert_int_equal(with->allocate(made, 1, 1, &begin, &end), 0);
	for (char c : text) {
		if (begin + used == end)
			assert_int_equal(with->resize(made, 2 * used, &begin,
						      &end),
					 0);
		begin[used++] = c;
	}
	assert_int_equal(with->resize(made, used, &begin, &end), 0);
	assert_true(text == std::string(begin, end));
	assert_int_equal(with->finalize(made), 0);
}

void an_array_is_read_by_its_preamble(void **)
{
	const char *const texts[] = { "one", "three" };
	dray_block *made = nullptr;

	assert_int_equal(dray_strings_from(nullptr, texts, 2, &made), 0);
	block_pointer strings(made);
	dray_array *array = dray_block_as_array(made);
	assert_non_null(array);
	const dray_string *pairs = static_cast<dray_string *>(array->data);
	assert_int_equal(dray_array_axes(array)[0].size, 2);
	assert_true(std::string(pairs[1].begin, pairs[1].end) == "three");
	auto *meta = static_cast<dray_strings_meta *>(
		dray_array_meta(array));
	block_pointer bytes(dray_block_ref(meta->bytes));
	strings = block_pointer();
	assert_int_equal(dray_block_count(bytes.get()), 1);
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(a_smart_pointer_counts),
		cmocka_unit_test(an_arena_is_filled),
		cmocka_unit_test(an_array_is_read_by_its_preamble),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
