// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A view as rows: a tile of a picture, written to a file without a copy, and
 * described for a library that takes memory by addresses and lengths.
 *
 * writev() takes one entry for each run of bytes; NIXL, and engines, take rows with
 * a stride and a count, of which the tile has one.
 */
#include <dray/array.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HEIGHT 1080
#define WIDTH 1920
#define AT_ONCE 256 /* entries for each call, at most IOV_MAX */

/* Writes the elements of a view, in C order. */
static int write_view(int fd, const struct dray_view *view)
{
	struct iovec entries[AT_ONCE];
	size_t first = 0, count;
	int ret, part;

	do {
		ret = dray_view_iovec(view, first, entries, AT_ONCE, &count);
		if (ret)
			return ret;
		part = count - first < AT_ONCE ? (int)(count - first) : AT_ONCE;
		/* Entries this small are written whole, to a file. */
		if (part && writev(fd, entries, part) < 0) {
			perror("writev");
			return -1;
		}
		first += AT_ONCE;
	} while (first < count);
	return 0;
}

static int describe(const struct dray_view *view)
{
	struct dray_row row;
	size_t count;
	int ret = dray_view_rows(view, NULL, &row, 1, &count);

	if (!ret)
		printf("%zu row: %llu pieces of %llu bytes, %llu apart\n",
		       count, (unsigned long long)row.count,
		       (unsigned long long)row.length,
		       (unsigned long long)row.stride);
	return ret;
}

/* Does both with the tile [100:580, 64:704]. */
static int pass_on(const struct dray_array *picture)
{
	const struct dray_index index[] = { DRAY_SLICE(100, 580, 1),
					    DRAY_SLICE(64, 704, 1), DRAY_ALL };
	struct dray_view whole, tile;
	FILE *file;
	int ret;

	ret = dray_view_index(dray_array_view(picture, &whole), index, 3,
			      &tile);
	/* Until no engine writes the picture any more. */
	if (!ret)
		ret = dray_view_wait(&tile, DRAY_ACCESS_READ, 1000);
	if (!ret)
		ret = describe(&tile);
	if (ret)
		return ret;
	file = tmpfile();
	if (!file) {
		perror("tmpfile");
		return -1;
	}
	ret = write_view(fileno(file), &tile);
	printf("a file of %lld bytes\n",
	       (long long)lseek(fileno(file), 0, SEEK_END));
	fclose(file);
	return ret;
}

int main(void)
{
	const int64_t shape[] = { HEIGHT, WIDTH, 3 };
	struct dray_array *picture = NULL;
	struct dray_pool *pool = NULL;
	struct dray_node *node = NULL;
	int ret;

	ret = dray_node_open(NULL, &node);
	if (!ret)
		ret = dray_pool_create(node, NULL, &pool);
	if (!ret)
		ret = dray_array_create(pool, DRAY_UINT8, 3, shape, &picture);
	if (!ret)
		ret = pass_on(picture);
	if (ret)
		fprintf(stderr, "rows: %s\n", dray_last_error());
	/* Each of these ignores NULL. */
	dray_array_unref(picture);
	dray_pool_close(pool);
	dray_node_unref(node);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
