// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sources of kernels: around a function of an element, a kernel for each way in
 * which the operands of a call lie.  A kernel receives the address of each
 * operand and a vector "at": its strides along three axes, then the offset of
 * its first element, all in bytes; and at last the numbers of elements along
 * the axes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "opencl.h"

/* OpenCL's types of an element. */
struct source_element {
	dray_dtype dtype;
	const char *value;
	const char *memory; /* that addresses are of */
	const char *kind; /* of the macros that load and store it */
};

#define PLAIN(dtype, type)                 \
	{                                  \
		dtype, type, type, "plain" \
	}

static const struct source_element elements[] = {
	/* Any byte but 0 is true. */
	{ DRAY_BOOL, "uchar", "uchar", "truth" },
	PLAIN(DRAY_INT8, "char"),
	PLAIN(DRAY_UINT8, "uchar"),
	PLAIN(DRAY_INT16, "short"),
	PLAIN(DRAY_UINT16, "ushort"),
	PLAIN(DRAY_INT32, "int"),
	PLAIN(DRAY_UINT32, "uint"),
	PLAIN(DRAY_INT64, "long"),
	PLAIN(DRAY_UINT64, "ulong"),
	PLAIN(DRAY_FLOAT32, "float"),
	PLAIN(DRAY_FLOAT64, "double"),
	/* Vectors would have to be aligned as a whole. */
	{ DRAY_FLOAT16, "float", "half", "half" },
	{ DRAY_COMPLEX64, "float2", "float", "pair" },
	{ DRAY_COMPLEX128, "double2", "double", "pair" },
};

static const struct source_element times = PLAIN(0, "long");
static const struct source_element bytes = { 0, NULL, "uchar", NULL };

static const char macros[] =
	"#define dray_load_plain(T, p) (*(global const T *)(p))\n"
	"#define dray_load_truth(T, p) ((T)(*(global const T *)(p) != 0))\n"
	"#define dray_load_half(T, p) vload_half(0, (global const T *)(p))\n"
	"#define dray_load_pair(T, p) vload2(0, (global const T *)(p))\n"
	"#define dray_store_plain(T, p, v) (*(global T *)(p) = (v))\n"
	"#define dray_store_truth(T, p, v) (*(global T *)(p) = (v) != 0)\n"
	"#define dray_store_half(T, p, v) vstore_half_rte((v), 0, (global T *)(p))\n"
	"#define dray_store_pair(T, p, v) vstore2((v), 0, (global T *)(p))\n"
	"#define dray_at(at) (at.w + x * at.x + y * at.y + z * at.z)\n"
	"#define dray_dense(at, size) (at.w + x * size + y * at.y + z * at.z)\n";

const char *const dray_opencl_names[DRAY_OPENCL_WAYS] = {
	[DRAY_OPENCL_DENSE] = "dray_dense_loop",
	[DRAY_OPENCL_STRIDED] = "dray_strided_loop",
	[DRAY_OPENCL_MASKED] = "dray_masked_loop",
};

/* A source that is being written, of a loop. */
struct source_writer {
	FILE *text;
	const struct dray_opencl_loop *loop;
	int inputs, operands;
};

static const struct source_element *element_of(dray_dtype dtype)
{
	size_t i;

	for (i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
		if (dray_dtype_equal(elements[i].dtype, dtype))
			return &elements[i];
	if (dray_dtype_is_builtin(dtype) &&
	    (dray_dtype_kind(dtype) == 'M' || dray_dtype_kind(dtype) == 'm') &&
	    !(dray_dtype_flags(dtype) & DRAY_DTYPE_SWAPPED))
		return &times;
	return &bytes;
}

bool dray_opencl_has_type(dray_dtype dtype)
{
	return element_of(dtype)->value;
}

bool dray_opencl_is_double(dray_dtype dtype)
{
	return dray_dtype_equal(dtype, DRAY_FLOAT64) ||
	       dray_dtype_equal(dtype, DRAY_COMPLEX128);
}

static const struct source_element *
opencl_source_operand(const struct source_writer *writer, int o)
{
	return element_of(writer->loop->dtypes[o]);
}

static const char *opencl_source_comma(int o)
{
	return o ? ", " : "";
}

/* The program's source, as a function that the rest calls. */
static void write_given(const struct source_writer *writer)
{
	const struct dray_opencl_loop *loop = writer->loop;
	int o;

	if (loop->function) {
		fprintf(writer->text, "#line 1 \"source\"\n%s\n", loop->source);
		return;
	}
	fprintf(writer->text, "static %s dray_value(",
		opencl_source_operand(writer, writer->inputs)->value);
	for (o = 0; o < writer->inputs; o++)
		fprintf(writer->text, "%s%s %c", opencl_source_comma(o),
			opencl_source_operand(writer, o)->value, 'a' + o);
	fprintf(writer->text, ")\n{\nreturn (\n#line 1 \"source\"\n%s\n);\n}\n",
		loop->source);
}

static void write_load(const struct source_writer *writer, int o)
{
	fprintf(writer->text, "%sdray_load_%s(%s, p%d)", opencl_source_comma(o),
		opencl_source_operand(writer, o)->kind,
		opencl_source_operand(writer, o)->memory, o);
}

/* Calls the function with values, and stores its results. */
static void write_values(const struct source_writer *writer,
			 const char *function)
{
	const struct source_element *out;
	int o;

	if (writer->operands == writer->inputs + 1) {
		out = opencl_source_operand(writer, writer->inputs);
		fprintf(writer->text, "dray_store_%s(%s, p%d, %s(", out->kind,
			out->memory, writer->inputs, function);
		for (o = 0; o < writer->inputs; o++)
			write_load(writer, o);
		fputs("));\n", writer->text);
		return;
	}
	for (o = writer->inputs; o < writer->operands; o++)
		fprintf(writer->text, "%s v%d;\n",
			opencl_source_operand(writer, o)->value, o);
	fprintf(writer->text, "%s(", function);
	for (o = 0; o < writer->inputs; o++)
		write_load(writer, o);
	for (; o < writer->operands; o++)
		fprintf(writer->text, ", &v%d", o);
	fputs(");\n", writer->text);
	for (o = writer->inputs; o < writer->operands; o++)
		fprintf(writer->text, "dray_store_%s(%s, p%d, v%d);\n",
			opencl_source_operand(writer, o)->kind,
			opencl_source_operand(writer, o)->memory, o, o);
}

/* Calls it with addresses. */
static void write_addresses(const struct source_writer *writer,
			    const char *function)
{
	int o;

	fprintf(writer->text, "%s(", function);
	for (o = 0; o < writer->operands; o++)
		fprintf(writer->text, "%s(global %s%s *)p%d",
			opencl_source_comma(o),
			o < writer->inputs ? "const " : "",
			opencl_source_operand(writer, o)->memory, o);
	fputs(");\n", writer->text);
}

/* A function of the addresses of an element of each operand. */
static void write_element(const struct source_writer *writer)
{
	const char *function = writer->loop->function;
	int o;

	fputs("#line 1 \"call\"\nstatic void dray_element(", writer->text);
	for (o = 0; o < writer->operands; o++)
		fprintf(writer->text, "%sglobal %suchar *p%d",
			opencl_source_comma(o),
			o < writer->inputs ? "const " : "", o);
	fputs(")\n{\n", writer->text);
	if (writer->loop->flags & DRAY_OPENCL_BY_ADDRESS)
		write_addresses(writer, function);
	else
		write_values(writer, function ? function : "dray_value");
	fputs("}\n", writer->text);
}

/* A kernel that finds the element of a work-item, unless it is beyond the last. */
static void write_kernel(const struct source_writer *writer,
			 enum dray_opencl_way way)
{
	const int operands =
		writer->operands + (way == DRAY_OPENCL_MASKED ? 1 : 0);
	int o;

	fprintf(writer->text, "kernel void %s(", dray_opencl_names[way]);
	for (o = 0; o < operands; o++)
		fprintf(writer->text, "global %suchar *p%d, long4 at%d, ",
			o < writer->inputs || o == writer->operands ? "const "
								    : "",
			o, o);
	fputs("long4 n)\n{\n"
	      "const long x = get_global_id(0), y = get_global_id(1);\n"
	      "const long z = get_global_id(2);\n"
	      "if (x >= n.x || y >= n.y || z >= n.z)\nreturn;\n",
	      writer->text);
	if (way == DRAY_OPENCL_MASKED)
		fprintf(writer->text, "if (!p%d[dray_at(at%d)])\nreturn;\n",
			writer->operands, writer->operands);
	fputs("dray_element(", writer->text);
	for (o = 0; o < writer->operands; o++)
		if (way == DRAY_OPENCL_DENSE)
			fprintf(writer->text, "%sp%d + dray_dense(at%d, %u)",
				opencl_source_comma(o), o, o,
				dray_dtype_itemsize(writer->loop->dtypes[o]));
		else
			fprintf(writer->text, "%sp%d + dray_at(at%d)",
				opencl_source_comma(o), o, o);
	fputs(");\n}\n", writer->text);
}

char *dray_opencl_write(const struct dray_opencl_loop *loop, bool doubles)
{
	struct source_writer writer = {
		.loop = loop,
		.inputs = dray_ufunc_inputs(loop->ufunc),
		.operands = dray_opencl_ufunc_operands(loop->ufunc),
	};
	char *text = NULL;
	size_t size = 0;
	int way, failed;

	writer.text = open_memstream(&text, &size);
	if (!writer.text)
		return NULL;
	if (doubles)
		fputs("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
		      writer.text);
	fputs("#pragma OPENCL FP_CONTRACT OFF\n", writer.text);
	write_given(&writer);
	fputs(macros, writer.text);
	write_element(&writer);
	for (way = 0; way < DRAY_OPENCL_WAYS; way++)
		write_kernel(&writer, way);
	failed = ferror(writer.text);
	if (fclose(writer.text) || failed) {
		free(text);
		return NULL;
	}
	return text;
}
