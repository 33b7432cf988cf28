// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * check_asked: DRAY_HANDLER=check puts the checking handler over that of each
 * pool, and a program that does something wrong says so on standard error, at
 * its end at the latest.  Such a program is this one, run again with the name
 * of a scene.
 */
#include "failing_calloc.h"
#include "pool.h"

static const struct dray_allocator *with;

static unsigned char *get(size_t size)
{
	return with->malloc(with->ctx, size);
}

static void put(void *block, size_t size)
{
	with->free(with->ctx, block, size);
}

static void does_all_well(struct dray_pool *pool)
{
	put(get(100), 100);
}

/* By name in the report: the program exports it. */
__attribute__((noinline)) void *leak_one(size_t size);
__attribute__((noinline)) void *leak_one(size_t size)
{
	unsigned char *block = get(size);

	memset(block, 0, size);
	return block;
}

static void leaks(struct dray_pool *pool)
{
	leak_one(300);
}

static void leaks_past_the_pool(struct dray_pool *pool)
{
	leak_one(300);
	dray_pool_close(pool);
}

static void writes_behind(struct dray_pool *pool)
{
	unsigned char *block = leak_one(200);

	block[200] = 0;
	put(block, 200);
}

static void writes_late(struct dray_pool *pool)
{
	unsigned char *block = leak_one(77);

	put(block, 77);
	block[7] = 0;
}

static void frees_twice(struct dray_pool *pool)
{
	unsigned char *block = leak_one(150);

	put(block, 150);
	put(block, 150);
}

static void frees_inside(struct dray_pool *pool)
{
	unsigned char *block = leak_one(1000);

	put(block + 64, 1000);
	put(block, 1000);
}

static void *at_exit;

static void free_at_exit(void)
{
	put(at_exit, 400);
}

static void frees_while_it_ends(struct dray_pool *pool)
{
	at_exit = leak_one(400);
	atexit(free_at_exit);
}

/* The child inherits what is out, and ends as programs do. */
static void lets_a_child_end(struct dray_pool *pool)
{
	unsigned char *block = leak_one(5000);
	int status;
	pid_t child = fork();

	if (!child)
		exit(0);
	waitpid(child, &status, 0);
	put(block, 5000);
}

static void has_a_child_that_leaks(struct dray_pool *pool)
{
	pid_t child = fork();
	int status;

	if (!child) {
		pool = open_pool(test_spec(), NULL);
		with = &dray_handler_for(pool)->allocator;
		leak_one(300);
		exit(0);
	}
	waitpid(child, &status, 0);
}

struct scene {
	const char *name;
	void (*play)(struct dray_pool *pool);
};

static const struct scene scenes[] = {
	{ "does all well", does_all_well },
	{ "leaks", leaks },
	{ "leaks past the pool", leaks_past_the_pool },
	{ "writes behind", writes_behind },
	{ "writes late", writes_late },
	{ "frees twice", frees_twice },
	{ "frees inside", frees_inside },
	{ "frees while it ends", frees_while_it_ends },
	{ "lets a child end", lets_a_child_end },
	{ "has a child that leaks", has_a_child_that_leaks },
};

static int play(const char *name)
{
	struct dray_pool *pool = open_pool(test_spec(), NULL);

	with = &dray_handler_for(pool)->allocator;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (strcmp(scenes[i].name, name))
			continue;
		scenes[i].play(pool);
		return 0;
	}
	return 1;
}

/* What a program of that scene writes to standard error. */
static const char *said_by(const char *scene)
{
	static char text[65536];
	size_t length = 0;
	ssize_t got = 1;
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		dup2(ends[1], STDERR_FILENO);
		setenv("DRAY_HANDLER", "check", 1);
		execl("/proc/self/exe", "test_check_asked", scene, NULL);
		_exit(127);
	}
	close(ends[1]);
	while (got > 0 && length < sizeof(text) - 1) {
		got = read(ends[0], text + length, sizeof(text) - 1 - length);
		length += got > 0 ? (size_t)got : 0;
	}
	text[length] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status)
		fail_msg("\"%s\" ended with 0x%x: %s", scene, status, text);
	return text;
}

static void assert_says(const char *scene, const char *const *parts)
{
	const char *text = said_by(scene), *at = text;

	for (; *parts; parts++) {
		at = strstr(at, *parts);
		if (!at)
			fail_msg("after \"%s\" it does not say '%s': %s", scene,
				 *parts, text);
	}
}

BRIEF(FACT(a_program_that_does_all_well_says_nothing),
      assert_string_equal(said_by("does all well"), ""));

FACT(leaks_are_said_at_exit_with_their_call_sites)
{
	static const char *const parts[] = {
		"dray: handler \"checked dray ",  "\" at exit:\n",
		"of 300 bytes\n  allocated by\n", "leak_one+0x",
		"1 block of 300 bytes is out; ",  NULL
	};

	assert_says("leaks", parts);
	assert_says("leaks past the pool", parts);
}

FACT(a_write_next_to_a_block_is_said_by_its_free)
{
	static const char *const parts[] = {
		"of 200 bytes was written 1 byte behind its last\n",
		"  now called by\n",
		"  allocated by\n",
		"leak_one+0x",
		" at exit:\n0 blocks of 0 bytes are out; ",
		" 1 broken guards",
		NULL
	};

	assert_says("writes behind", parts);
}

FACT(a_late_write_is_said_at_exit)
{
	static const char *const parts[] = {
		"byte 7 of block ", " was written after it was freed\n",
		"leak_one+0x",	    "  freed by\n",
		" 1 late writes",   NULL
	};

	assert_says("writes late", parts);
}

FACT(wrong_frees_are_said_when_they_are_made)
{
	static const char *const twice[] = { "free of block ",
					     ", which is freed\n",
					     "  now called by\n",
					     "leak_one+0x",
					     "  freed by\n",
					     " 1 double frees",
					     NULL };
	static const char *const inside[] = {
		"64 bytes from the start of block ", "leak_one+0x",
		" 1 bad frees", NULL
	};

	assert_says("frees twice", twice);
	assert_says("frees inside", inside);
}

BRIEF(FACT(what_is_freed_while_a_program_ends_is_no_leak),
      assert_string_equal(said_by("frees while it ends"), ""));
BRIEF(FACT(a_child_says_nothing_of_what_it_inherits),
      assert_string_equal(said_by("lets a child end"), ""));

FACT(a_child_says_what_it_leaks_itself)
{
	static const char *const parts[] = { " at exit:\n", "leak_one+0x",
					     "1 block of 300 bytes is out; ",
					     NULL };

	assert_says("has a child that leaks", parts);
}

/* Comes before the others with pools: none is there to be used again. */
FACT(without_memory_for_one_there_is_no_pool)
{
	struct dray_node *node = open_node(test_spec());
	struct dray_pool *pool = NULL;
	bool its_object = false, failed;
	int n, ret;

	setenv("DRAY_HANDLER", "check", 1);
	for (n = 0, failed = true; failed; n++) {
		to_go = n;
		ret = dray_pool_create(node, NULL, &pool);
		failed = to_go < 0;
		to_go = -1;
		if (ret) {
			assert_true(failed);
			assert_int_equal(ret, -ENOMEM);
			its_object |= strstr(dray_last_error(),
					     "a handler's object") != NULL;
			continue;
		}
		assert_non_null(
			strstr(dray_handler_for(pool)->name, "checked "));
		dray_pool_close(pool);
	}
	unsetenv("DRAY_HANDLER");
	assert_true(its_object);
	dray_node_unref(node);
}

static int ask(const char *name)
{
	struct dray_pool *pool = NULL;
	struct dray_node *node = open_node(test_spec());
	int ret;

	setenv("DRAY_HANDLER", name, 1);
	ret = dray_pool_create(node, NULL, &pool);
	unsetenv("DRAY_HANDLER");
	dray_node_unref(node);
	dray_pool_close(pool);
	return ret;
}

FACT(another_name_is_refused)
{
	assert_fails(ask("chek"), -EINVAL,
		     "DRAY_HANDLER is \"chek\", not \"check\"");
	assert_fails(ask("check "), -EINVAL, "\"check \"");
	assert_works(ask(""));
	assert_works(ask("check"));
}

static struct dray_pool *open_checked(void)
{
	struct dray_pool *pool;

	setenv("DRAY_HANDLER", "check", 1);
	pool = open_pool(test_spec(), NULL);
	unsetenv("DRAY_HANDLER");
	return pool;
}

FACT(each_pool_has_one_for_good)
{
	struct dray_pool *pool, *other;
	const struct dray_handler *handler;
	struct dray_check numbers = { .size = sizeof(numbers) };
	char name[64];

	/* One that nobody had is used again, with all that belongs to it. */
	dray_pool_close(open_checked());
	pool = open_checked();
	other = open_checked();
	handler = dray_handler_for(pool);
	snprintf(name, sizeof(name), "checked dray %s",
		 dray_node_backend(dray_pool_node(pool)));
	assert_string_equal(handler->name, name);
	assert_ptr_equal(dray_handler_for(pool), handler);
	assert_ptr_not_equal(dray_handler_for(other), handler);
	assert_works(dray_check_get(handler, &numbers));
	dray_pool_close(pool);
	dray_pool_close(other);
	pool = open_pool(test_spec(), NULL);
	assert_fails(dray_check_get(dray_handler_for(pool), &numbers), -EINVAL,
		     "not from dray_handler_check()");
	dray_pool_close(pool);
}

FACT(a_closed_pool_keeps_nothing)
{
	struct dray_pool *pool = open_checked();
	struct dray_location where;
	unsigned char *first, *second;

	with = &dray_handler_for(pool)->allocator;
	first = get(100);
	second = get(100);
	put(first, 100);
	assert_works(dray_locate(first, &where));
	dray_pool_close(pool);
	assert_int_equal(dray_locate(first, &where), -ENOENT);
	assert_works(dray_locate(second, &where));
	put(second, 100);
	assert_int_equal(dray_locate(second, &where), -ENOENT);
}

int main(int count, char **words)
{
	return count > 1 ? play(words[1]) : unit_run(NULL);
}
