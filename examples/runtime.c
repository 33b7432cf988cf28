// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A tensor runtime that allocates through a handler.
 *
 * The runtime below knows struct dray_handler and nothing else of dray, so the
 * same code runs on the C library's heap and in memory that a device reaches.
 * main() adopts the handlers in turn.
 */
#include <dray/dray.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A tensor keeps its handler: memory returns to the handler it came from. */
struct tensor {
	const struct dray_handler *handler;
	float *data;
	size_t rows;
	size_t columns;
};

static size_t tensor_bytes(const struct tensor *tensor)
{
	return tensor->rows * tensor->columns * sizeof(*tensor->data);
}

/* Allocates zeroed rows; returns -ENOMEM if the handler lacks memory. */
static int tensor_create(struct tensor *tensor,
			 const struct dray_handler *handler, size_t rows,
			 size_t columns)
{
	*tensor = (struct tensor){ handler, NULL, rows, columns };
	tensor->data = dray_handler_zalloc(handler, tensor_bytes(tensor));
	return tensor->data ? 0 : -ENOMEM;
}

/* Appends rows with undefined contents; a failure leaves the tensor as it is. */
static int tensor_grow(struct tensor *tensor, size_t rows)
{
	struct tensor grown = *tensor;

	grown.rows += rows;
	grown.data = dray_handler_realloc(tensor->handler, tensor->data,
					  tensor_bytes(&grown));
	if (!grown.data)
		return -ENOMEM;
	*tensor = grown;
	return 0;
}

/* Passes the size on: dray ignores it, other handlers may need it. */
static void tensor_destroy(struct tensor *tensor)
{
	dray_handler_free(tensor->handler, tensor->data, tensor_bytes(tensor));
}

static float tensor_sum(const struct tensor *tensor)
{
	float sum = 0;
	size_t i;

	for (i = 0; i < tensor->rows * tensor->columns; i++)
		sum += tensor->data[i];
	return sum;
}

/* Fills a tensor, grows it, fills the new rows and prints the sum. */
static int run(const struct dray_handler *handler)
{
	const size_t columns = 1000;
	struct tensor tensor;
	size_t i;
	int ret;

	ret = tensor_create(&tensor, handler, 10, columns);
	if (ret)
		return ret;
	for (i = 0; i < tensor.rows * columns; i++)
		tensor.data[i] = 1;
	ret = tensor_grow(&tensor, 5);
	if (!ret) {
		for (i = 10 * columns; i < tensor.rows * columns; i++)
			tensor.data[i] = 2;
		printf("%s: %zu x %zu floats, sum %.0f\n", handler->name,
		       tensor.rows, tensor.columns, tensor_sum(&tensor));
	}
	tensor_destroy(&tensor);
	return ret;
}

int main(void)
{
	struct dray_pool *pool = NULL;
	struct dray_node *node = NULL;
	int ret;

	/* NULL opens the module's first node, or the host without a module. */
	ret = dray_node_open(NULL, &node);
	if (!ret)
		ret = dray_pool_create(node, NULL, &pool);
	if (!ret)
		ret = run(dray_handler_default());
	if (!ret)
		ret = run(dray_handler_for(pool));
	if (ret)
		fprintf(stderr, "runtime: %s\n", dray_last_error());
	dray_pool_close(pool);
	dray_node_unref(node);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
