// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Two processes and a record: the child opens an array of the parent.
 *
 * The exporter starts this program again and writes the record, plain bytes, to
 * its standard input.  The importer opens it and doubles each element.  Nothing
 * is copied: the exporter sees the result in its own array.
 */
#include <dray/array.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 16384

static int32_t *elements(const struct dray_array *array)
{
	return array->data;
}

/* Opens the record on standard input and doubles the array's elements. */
static int import(void)
{
	unsigned char record[DRAY_VIEW_RECORD_SIZE];
	struct dray_array *array;
	size_t size;
	int64_t i, count;
	int ret;

	size = fread(record, 1, sizeof(record), stdin);
	/* NULL opens the node that the memory is of. */
	ret = dray_array_open(record, size, NULL, &array);
	if (ret)
		return ret;
	count = dray_array_axes(array)[0].size;
	for (i = 0; i < count; i++)
		elements(array)[i] *= 2;
	printf("importer: doubled %lld elements\n", (long long)count);
	dray_array_unref(array);
	return 0;
}

/* Starts the importer with the record as its input and waits for its end. */
static int start_importer(const unsigned char *record, size_t size)
{
	FILE *importer;
	int status;

	/* The shell's parent is this process: exe is its program. */
	importer = popen("/proc/$PPID/exe import", "w");
	if (!importer)
		return -errno;
	if (fwrite(record, 1, size, importer) < size)
		fprintf(stderr, "record: the importer takes no record\n");
	status = pclose(importer);
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ECHILD;
}

/* Exports an array to the importer and checks the elements afterwards. */
static int export(struct dray_node *node)
{
	unsigned char record[DRAY_VIEW_RECORD_SIZE];
	const int64_t shape = COUNT;
	struct dray_array *array;
	struct dray_view view;
	size_t size;
	int ret, i;

	/*
	 * An importer reaches the whole buffer around a record, so this array
	 * owns a buffer of its own.
	 */
	ret = dray_array_create_alone(node, DRAY_INT32, 1, &shape, &array);
	if (ret)
		return ret;
	for (i = 0; i < COUNT; i++)
		elements(array)[i] = i;
	ret = dray_view_export(dray_array_view(array, &view), 0, record,
			       sizeof(record), &size);
	if (!ret)
		ret = start_importer(record, size);
	for (i = 0; !ret && i < COUNT; i++)
		if (elements(array)[i] != 2 * i)
			ret = -EIO;
	if (!ret)
		printf("exporter: a record of %zu bytes, element %d is now %d\n",
		       size, COUNT - 1, elements(array)[COUNT - 1]);
	/* With its memory the record ends: a later open fails. */
	dray_array_unref(array);
	return ret;
}

int main(int argc, char **argv)
{
	struct dray_node *node;
	int ret;

	if (argc > 1 && !strcmp(argv[1], "import")) {
		ret = import();
	} else {
		/* As NULL, but memory of the host can be passed on. */
		ret = dray_node_open("shareable", &node);
		if (!ret) {
			ret = export(node);
			dray_node_unref(node);
		}
	}
	if (ret)
		fprintf(stderr, "record: %s: %s\n", strerror(-ret),
			dray_last_error());
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
