/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Types as casts see them: a class, a size and a byte order; and the loops that
 * the files of casts share.
 */
#ifndef DRAY_CAST_CAST_H
#define DRAY_CAST_CAST_H

#include <float.h>
#include <string.h>

#include <dray/array/cast.h>

/* The first classes are plain numbers; loops exist between all of these. */
enum dray_class {
	DRAY_CLASS_BOOL,
	DRAY_CLASS_INT8,
	DRAY_CLASS_INT16,
	DRAY_CLASS_INT32,
	DRAY_CLASS_INT64,
	DRAY_CLASS_UINT8,
	DRAY_CLASS_UINT16,
	DRAY_CLASS_UINT32,
	DRAY_CLASS_UINT64,
	DRAY_CLASS_FLOAT,
	DRAY_CLASS_DOUBLE,
	DRAY_CLASS_LONG, /* long double, if it is longer than a double */
	DRAY_CLASS_HALF,
	DRAY_CLASS_CFLOAT,
	DRAY_CLASS_CDOUBLE,
	DRAY_CLASS_CLONG,
	DRAY_CLASS_DATE,
	DRAY_CLASS_DURATION,
	DRAY_CLASS_BYTES,
	DRAY_CLASS_UNICODE,
	DRAY_CLASS_VOID,
	DRAY_CLASS_OTHER, /* type objects, and types that nothing converts to */
};

#define DRAY_PLAIN_NUMBERS (DRAY_CLASS_LONG + 1)

struct dray_typed {
	enum dray_class class;
	bool swapped; /* not in the machine's byte order */
	uint32_t size; /* bytes */
	enum dray_unit unit;
	int32_t multiple; /* of the unit */
};

/* Describes a type; DRAY_CLASS_OTHER for all but the builtin types. */
struct dray_typed dray_typed(dray_dtype dtype);

/* The first level that allows a cast between types that are not OTHER. */
enum dray_casting dray_cast_level(const struct dray_typed *from,
				  const struct dray_typed *to);

/* Above all levels: such a cast does not exist. */
#define DRAY_CASTING_NEVER ((enum dray_casting)(DRAY_CASTING_UNSAFE + 1))

/* Returns that level for any two valid types. */
enum dray_casting dray_level(dray_dtype from, dray_dtype to);
/* Returns the level if either type consists of parts or is OTHER. */
enum dray_casting dray_parts_level(dray_dtype from, dray_dtype to);

/* Whether elements are copied as they lie; those with gaps are not. */
bool dray_parts_same(dray_dtype to, dray_dtype from);

/*
 * Plans the steps of a cast with its types.
 * @parts: the loop of types with fields or items, with the cast as context; NULL: none
 */
int dray_cast_plan(struct dray_cast *cast, const struct dray_typed *target,
		   const struct dray_typed *source, dray_loop *parts);

/*
 * Asks user types for a cast: sets its part and context.  Returns its level, or
 * -EOPNOTSUPP.
 */
int dray_user_cast(dray_dtype to, dray_dtype from, struct dray_cast *cast);
/* The loop of a step that runs the part; its context is the cast. */
dray_loop dray_loop_user;
/* Returns the level of such a cast, or DRAY_CASTING_NEVER. */
enum dray_casting dray_user_level(dray_dtype from, dray_dtype to);
/* dray_promote(), for types with parts, which are of types again. */
typedef int dray_promote_fn(dray_dtype a, dray_dtype b, dray_dtype *out);
/* The common type of @count types, of which at least 1 is a user's. */
int dray_common_user(const dray_dtype *types, size_t count, unsigned int weak,
		     dray_promote_fn *promote, dray_dtype *out);
/* A number or date in the machine's byte order; any other type as it is. */
dray_dtype dray_user_native(dray_dtype dtype);

/* The common type of @count types with parts, or of equal types. */
int dray_common_object(const dray_dtype *types, size_t count,
		       dray_promote_fn *promote, dray_dtype *out);
int dray_common_equal(const dray_dtype *types, size_t count, dray_dtype *out);
/* Leaves the sentence that types lack a common type.  -EINVAL. */
int dray_fail_common(const dray_dtype *types, size_t count);

/* Whether two names are equal, or there are none. */
static inline bool dray_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* The builtin number of a class, in the machine's byte order. */
dray_dtype dray_class_dtype(enum dray_class class);

/* Characters that a number needs as text. */
uint32_t dray_class_characters(enum dray_class class);

/* The rank of a number's kind: each kind fits into the next. */
int dray_class_rank(enum dray_class class);

static inline bool dray_class_is_number(enum dray_class class)
{
	return class <= DRAY_CLASS_CLONG;
}

static inline bool dray_class_is_complex(enum dray_class class)
{
	return class >= DRAY_CLASS_CFLOAT && class <= DRAY_CLASS_CLONG;
}

static inline bool dray_class_is_float(enum dray_class class)
{
	return class >= DRAY_CLASS_FLOAT && class <= DRAY_CLASS_HALF;
}

static inline bool dray_class_is_unsigned(enum dray_class class)
{
	return class >= DRAY_CLASS_UINT8 && class <= DRAY_CLASS_UINT64;
}

static inline bool dray_class_is_integer(enum dray_class class)
{
	return class >= DRAY_CLASS_INT8 && class <= DRAY_CLASS_UINT64;
}

static inline bool dray_class_is_time(enum dray_class class)
{
	return class == DRAY_CLASS_DATE || class == DRAY_CLASS_DURATION;
}

static inline bool dray_class_is_text(enum dray_class class)
{
	return class == DRAY_CLASS_BYTES || class == DRAY_CLASS_UNICODE;
}

/* The class of the two parts of a complex number. */
static inline enum dray_class dray_class_part(enum dray_class class)
{
	return (enum dray_class)(class - DRAY_CLASS_CFLOAT + DRAY_CLASS_FLOAT);
}

static inline enum dray_class dray_class_complex(enum dray_class part)
{
	return (enum dray_class)(part - DRAY_CLASS_FLOAT + DRAY_CLASS_CFLOAT);
}

/* Whether two types are the same; not of the class OTHER. */
static inline bool dray_typed_same(const struct dray_typed *a,
				   const struct dray_typed *b)
{
	return a->class == b->class && a->swapped == b->swapped &&
	       a->size == b->size && a->unit == b->unit &&
	       a->multiple == b->multiple;
}

/* Whether the processor's flags after a conversion mean something: not of text. */
bool dray_cast_notes_errors(dray_dtype to, dray_dtype from);

/*
 * As dray_view_convert() and dray_view_convert_threads(), but errors of numbers stay in
 * the flags of this thread, for a caller with a name of its own.
 */
int dray_view_cast(const struct dray_view *dst, const struct dray_view *src,
		   enum dray_casting casting);
int dray_view_cast_threads(const struct dray_view *dst,
			   const struct dray_view *src,
			   enum dray_casting casting, unsigned int threads);

/* dray_cast_find() of types that exist, and are described already. */
int dray_cast_prepare(dray_dtype to, const struct dray_typed *target,
		      dray_dtype from, const struct dray_typed *source,
		      struct dray_cast *out);

/* Loops between plain numbers in the machine's byte order: [to][from]. */
extern dray_loop
	*const dray_number_loops[DRAY_PLAIN_NUMBERS][DRAY_PLAIN_NUMBERS];
/* Times from floats: [from - FLOAT]. */
extern dray_loop *const dray_to_time_loops[3];
/* Complex numbers from and to their part, and to bools: [part - FLOAT]. */
extern dray_loop *const dray_to_complex_loops[3];
extern dray_loop *const dray_from_complex_loops[3];
extern dray_loop *const dray_complex_bool_loops[3];

dray_loop dray_loop_half_to_float, dray_loop_float_to_half;
dray_loop dray_loop_half_to_double, dray_loop_double_to_half;

/* Copies items, and reverses their bytes: sizes up to 16, and any other. */
dray_loop *dray_copy_loop(uint32_t size);
dray_loop *dray_swap_loop(uint32_t size);
/* Complex numbers, by the size of a part. */
dray_loop *dray_swap_pair_loop(uint32_t part);

/* Text and raw data; the context is a struct dray_cast. */
dray_loop dray_loop_resize, dray_loop_characters, dray_loop_unicode_to_void;
dray_loop dray_loop_bytes_to_bool;
dray_loop dray_loop_parse;
dray_loop *dray_format_loop(enum dray_class from);

/* Units of time; numerator and denominator are in the cast. */
dray_loop dray_loop_rescale, dray_loop_calendar;
int dray_time_factors(const struct dray_typed *to,
		      const struct dray_typed *from, int64_t *numerator,
		      int64_t *denominator);
/* Whether a unit of the second divides the first. */
bool dray_time_divides(const struct dray_typed *dividend,
		       const struct dray_typed *divisor);
/* -EINVAL, -EOVERFLOW: writes the largest unit that both are multiples of. */
int dray_time_common(const struct dray_typed *a, const struct dray_typed *b,
		     dray_dtype *out);

#endif /* DRAY_CAST_CAST_H */
