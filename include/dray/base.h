/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * base: the version and the error contract.  The headers are C11, and C++11.
 *
 *	struct dray_node *node;
 *
 *	ret = dray_node_open("kernel:dray9", &node);
 *	if (ret) {
 *		fprintf(stderr, "%s\n", dray_last_error());
 *		return ret;
 *	}
 *	dray_node_unref(node);
 *
 * Functions return 0 or a negative errno and write their results through out
 * parameters, which keep their value on failure.  A failure leaves a sentence
 * for the calling thread until its next failure.  Functions shaped like malloc
 * return NULL and set errno instead, and leave the same sentence.
 *
 * If a function needs an argument (an object, memory to read or fill, a
 * function to call), NULL is a failure like others: -EINVAL and a sentence.
 * Functions that return no error leave the sentence and EINVAL in errno; they
 * return a neutral value (NULL, 0, false, -1 for a file descriptor) or do
 * nothing.  Functions that release something (_unref, _close, _destroy, a free)
 * ignore NULL, and _ref returns NULL for NULL; neither is a failure.  If NULL
 * means something else, the function says so.
 *
 * Structures: one that a caller allocates for options or for a result begins with its
 * size.  The caller sets it to sizeof or to 0, which stands for the first version of
 * the structure.  Of options, missing fields count as 0; -E2BIG if a field that the
 * library does not know is not 0.  Of a result, as many fields are filled as both know,
 * others become 0, and the size becomes that of the filled fields.  A size below the
 * first version is -EINVAL, a size above 4096 -E2BIG.  docs/stability.md has the rest.
 *
 * Signals: -EINTR means that a signal handler ran and nothing was done.  The
 * call may be made again; only dray_stream_exchange() has released its frames then,
 * and dray_stream_acquire() goes on.  If another call has begun something (a
 * submitted transfer, a record sent in part), a signal does not end its wait.
 * dray_fence_wait(), dray_view_wait(), dray_view_lend(), dray_buffer_lend(),
 * dray_copy(), dray_fill(), dray_event_wait(), dray_interrupt_wait(),
 * dray_stream_send() and its kin, dray_stream_ring(), dray_stream_acquire(),
 * dray_stream_exchange(), dray_call_queue_submit() and dray_sequence_submit() to a full
 * queue, dray_view_send(), dray_view_receive(), dray_array_receive() and
 * dray_dlpack_export() return -EINTR; allocations, opens, dray_queue_destroy(),
 * dray_stream_close() and dray_call_queue_destroy() wait on.
 *
 * Cancellation: no function is a cancellation point, even if it waits; a
 * pending request acts after the call returns.  Asynchronous cancellation
 * (PTHREAD_CANCEL_ASYNCHRONOUS) must be off during a call.
 */
#ifndef DRAY_BASE_H
#define DRAY_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the headers; dray_version() is the library's. */
#define DRAY_VERSION_MAJOR 0
#define DRAY_VERSION_MINOR 1
#define DRAY_VERSION_PATCH 0
#define DRAY_VERSION_TEXT "0.1.0"
/* A version as a number, for #if DRAY_VERSION >= DRAY_VERSION_NUMBER(0, 2, 0). */
#define DRAY_VERSION_NUMBER(major, minor, patch) \
	((major) * 1000000 + (minor) * 1000 + (patch))
#define DRAY_VERSION                                                 \
	DRAY_VERSION_NUMBER(DRAY_VERSION_MAJOR, DRAY_VERSION_MINOR, \
			    DRAY_VERSION_PATCH)

/* Exports a function of the library; all others are hidden. */
#define DRAY_API __attribute__((visibility("default")))

/*
 * A function that a compiler may inline.  The library exports it as well, for other
 * languages and for compilers that do not.
 */
#define DRAY_INLINED(...)     \
	DRAY_API __VA_ARGS__; \
	extern __inline __attribute__((__gnu_inline__)) __VA_ARGS__

/* A cast by C, or the one of that name by C++. */
#ifdef __cplusplus
#define DRAY_STATIC_CAST(type, value) static_cast<type>(value)
#define DRAY_REINTERPRET_CAST(type, value) reinterpret_cast<type>(value)
#else
#define DRAY_STATIC_CAST(type, value) ((type)(value))
#define DRAY_REINTERPRET_CAST(type, value) ((type)(uintptr_t)(value))
#endif

/*
 * Around a function with the name of the structure that it fills, as stat()
 * has.  C++ keeps the two apart as C does, but g++ -Wshadow warns of it.
 */
#if defined(__cplusplus) && defined(__GNUC__)
#define DRAY_NAMESAKE_BEGIN            \
	_Pragma("GCC diagnostic push") \
	_Pragma("GCC diagnostic ignored \"-Wshadow\"")
#define DRAY_NAMESAKE_END _Pragma("GCC diagnostic pop")
#else
#define DRAY_NAMESAKE_BEGIN
#define DRAY_NAMESAKE_END
#endif

/** Returns the library's version, "major.minor.patch"; a constant. */
DRAY_API const char *dray_version(void);

/**
 * Returns the reason for the last failure of a call of this thread; "" before
 * the first failure.  It is a sentence with the wrong value and the limit that
 * it met, without a trailing newline, and is valid until the next failing call
 * of the same thread, or its end.  A thread's first failure allocates the
 * memory for it; if there is none, the sentence says only that.
 */
DRAY_API const char *dray_last_error(void);

/**
 * Kinds of failures that share an error code with others.  Numbers are ABI, and new
 * kinds may follow: a program treats an unknown value as DRAY_FAILURE_NONE.
 */
enum dray_failure {
	DRAY_FAILURE_NONE = 0,		/* the error code alone says the kind */
	DRAY_FAILURE_CASTING = 1,	/* a casting rule refuses a conversion */
	DRAY_FAILURE_BOUNDS = 2,	/* a number is outside an integer type */
	/*
	 * an engine cannot move memory as it lies; if it is a packet,
	 * DRAY_PACKET_STAGE lets the CPU copy it
	 */
	DRAY_FAILURE_STAGE = 3,
	DRAY_FAILURE_LENT = 4,		/* memory is lent: dray_loan_end() (loan.h) */
};

/**
 * Returns the kind of the failure that left the sentence of dray_last_error()
 * in this thread; DRAY_FAILURE_NONE before the first.  A program decides by the
 * error code and by this, never by the words of a sentence, which may change.
 */
DRAY_API enum dray_failure dray_last_failure(void);

/**
 * Keeps a sentence for dray_last_error() of this thread, for functions that the library
 * calls (executors, managers, loops, handlers) and for libraries over it.  Leaves errno
 * alone.  Returns @error.
 *
 * @error: a negative errno
 * @format: as of printf(), without a newline at the end
 */
DRAY_API int dray_fail(int error, const char *format, ...)
	__attribute__((format(printf, 2, 3), cold));

/**
 * Copies a structure of a caller, which may be of another version, to the @known bytes
 * of @to, and sets its size to them: for functions of libraries over this one.  Both
 * begin with their size, a size_t; 0 stands for @first, the size of the first version.
 * Fields that the caller does not have become 0.
 *
 * @function: the name of the function for the sentence
 *
 * Errors: -EINVAL (a size below @first), -E2BIG (a field of a later version that is not
 * 0, a size above 4096).
 */
DRAY_API int dray_options_adapt(void *to, size_t known, const void *from,
				size_t first, const char *function)
	__attribute__((cold));

/**
 * Fills the structure of a caller, which may be of another version, with the @known
 * bytes of @from.  Fields that @from does not have become 0, and the size becomes that
 * of the fields that both have.
 *
 * Errors: -EINVAL (a size below @first), -E2BIG (a size above 4096).  Nothing
 * is changed then.
 */
DRAY_API int dray_result_write(void *out, const void *from, size_t known,
			       size_t first, const char *function);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_BASE_H */
