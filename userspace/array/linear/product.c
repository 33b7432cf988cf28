// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loops of products.  Each row of the result gathers multiples of the rows of the
 * right side, in the order of the inner axis: the compiler makes vectors of dense
 * rows, and the bits are the same with and without them.
 */
#include "linear/linear.h"

/*
 * Defines a product.
 * @add: adds the product of two elements to a third
 */
#define DEFINE_PRODUCT(name, type, add)                                         \
	static void name##_row(type *c, int64_t c_step, type x, const char *b,  \
			       int64_t b_step, int64_t n)                       \
	{                                                                       \
		const type *dense = (const type *)(const void *)b;              \
		int64_t j;                                                      \
                                                                                \
		if (c_step == 1 && b_step == sizeof(type))                      \
			for (j = 0; j < n; j++)                                 \
				add(c[j], x, dense[j]);                         \
		else                                                            \
			for (j = 0; j < n; j++)                                 \
				add(c[j * c_step], x,                           \
				    *(const type *)(const void *)(b +           \
								  j * b_step)); \
	}                                                                       \
                                                                                \
	static void name(const struct dray_extents *extents,                    \
			 const struct dray_matrix *a,                           \
			 const struct dray_matrix *b,                           \
			 const struct dray_matrix *c)                           \
	{                                                                       \
		const int64_t step = c->column / (int64_t)sizeof(type);         \
		int64_t i, j, l;                                                \
                                                                                \
		for (i = 0; i < extents->m; i++) {                              \
			type *row = (type *)(void *)(c->data + i * c->row);     \
			const char *left = a->data + i * a->row;                \
                                                                                \
			for (j = 0; j < extents->n; j++)                        \
				row[j * step] = 0;                              \
			for (l = 0; l < extents->k; l++)                        \
				name##_row(                                     \
					row, step,                              \
					*(const type                            \
						  *)(const void                 \
							     *)(left +          \
								l * a->column), \
					b->data + l * b->row, b->column,        \
					extents->n);                            \
		}                                                               \
	}

#define ADD(sum, x, y) ((sum) = (sum) + (x) * (y))
/* Of integers, which wrap. */
#define WRAP(sum, x, y)                              \
	((sum) = (__typeof__(sum))((uint64_t)(sum) + \
				   (uint64_t)(x) * (uint64_t)(y)))
#define EITHER(sum, x, y) ((sum) = (uint8_t)((sum) | ((x) && (y))))

DEFINE_PRODUCT(product_bool, uint8_t, EITHER)
DEFINE_PRODUCT(product_8, uint8_t, WRAP)
DEFINE_PRODUCT(product_16, uint16_t, WRAP)
DEFINE_PRODUCT(product_32, uint32_t, WRAP)
DEFINE_PRODUCT(product_64, uint64_t, WRAP)
DEFINE_PRODUCT(product_float, float, ADD)
DEFINE_PRODUCT(product_double, double, ADD)

/* Numbers of two parts; C's own product mends infinities. */
struct complex_float {
	float real;
	float imaginary;
};

struct complex_double {
	double real;
	double imaginary;
};

#define DEFINE_COMPLEX(name, type)                                           \
	static void name(const struct dray_extents *extents,                 \
			 const struct dray_matrix *a,                        \
			 const struct dray_matrix *b,                        \
			 const struct dray_matrix *c)                        \
	{                                                                    \
		int64_t i, j, l;                                             \
                                                                             \
		for (i = 0; i < extents->m; i++)                             \
			for (j = 0; j < extents->n; j++) {                   \
				const char *x = a->data + i * a->row;        \
				const char *y = b->data + j * b->column;     \
				type sum = { 0, 0 };                         \
                                                                             \
				for (l = 0; l < extents->k; l++) {           \
					const type *p = (const void *)x;     \
					const type *q = (const void *)y;     \
                                                                             \
					sum.real +=                          \
						p->real * q->real -          \
						p->imaginary * q->imaginary; \
					sum.imaginary +=                     \
						p->real * q->imaginary +     \
						p->imaginary * q->real;      \
					x += a->column;                      \
					y += b->row;                         \
				}                                            \
				*(type *)(void *)(c->data + i * c->row +     \
						  j * c->column) = sum;      \
			}                                                    \
	}

DEFINE_COMPLEX(product_complex_float, struct complex_float)
DEFINE_COMPLEX(product_complex_double, struct complex_double)

dray_product *dray_product_loop(dray_dtype dtype)
{
	static const struct {
		dray_dtype dtype;
		dray_product *product;
	} products[] = {
		{ DRAY_BOOL, product_bool },
		{ DRAY_INT8, product_8 },
		{ DRAY_UINT8, product_8 },
		{ DRAY_INT16, product_16 },
		{ DRAY_UINT16, product_16 },
		{ DRAY_INT32, product_32 },
		{ DRAY_UINT32, product_32 },
		{ DRAY_INT64, product_64 },
		{ DRAY_UINT64, product_64 },
		{ DRAY_FLOAT32, product_float },
		{ DRAY_FLOAT64, product_double },
		{ DRAY_COMPLEX64, product_complex_float },
		{ DRAY_COMPLEX128, product_complex_double },
	};
	size_t i;

	for (i = 0; i < sizeof(products) / sizeof(products[0]); i++)
		if (products[i].dtype == dtype)
			return products[i].product;
	return NULL;
}
