// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A parser of Python's literals.  Its input is hostile: depth and numbers have
 * limits, and its callers limit the length.  All literals and their texts are in
 * a single piece of memory, which begins with the root; the text's length bounds
 * both.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dtype/literal.h"
#include "base/error.h"
#include "base/number.h"

struct literal_parser {
	const char *subject;
	const char *start, *at, *end;
	struct dray_literal *literal; /* the next free byte */
	char *text; /* the next free byte */
	int depth;
};

/* Leaves a sentence with the place. */
static int literal_refuse(const struct literal_parser *parser, const char *why)
{
	return dray_fail(-EINVAL, "%s: %s at byte %zu, '%.*s'", parser->subject,
			 why, (size_t)(parser->at - parser->start),
			 parser->end - parser->at > 16
				 ? 16
				 : (int)(parser->end - parser->at),
			 parser->at);
}

static int literal_peek(const struct literal_parser *parser)
{
	return parser->at < parser->end ? (unsigned char)*parser->at : -1;
}

static void literal_skip_spaces(struct literal_parser *parser)
{
	while (parser->at < parser->end && *parser->at &&
	       strchr(" \t\r\n\f", *parser->at))
		parser->at++;
}

/* Skips @wanted, and spaces before it; false if another character is there. */
static bool literal_take(struct literal_parser *parser, char wanted)
{
	literal_skip_spaces(parser);
	if (literal_peek(parser) != wanted)
		return false;
	parser->at++;
	return true;
}

static void put_utf8(struct literal_parser *parser, uint32_t code)
{
	int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	static const unsigned char lead[] = { 0, 0xc0, 0xe0, 0xf0 };
	int shift = 6 * more;

	*parser->text++ = (char)(lead[more] | code >> shift);
	while (shift) {
		shift -= 6;
		*parser->text++ = (char)(0x80 | ((code >> shift) & 0x3f));
	}
}

/* Parses the @digits hexadecimal digits of an escape. */
static int parse_code(struct literal_parser *parser, int digits)
{
	static const char hex[] = "0123456789abcdef";
	uint32_t code = 0;

	while (digits--) {
		int c = literal_peek(parser);
		const char *found = c > 0 ? strchr(hex, c | 0x20) : NULL;

		if (!found || (c < '0'))
			return literal_refuse(parser, "an escape lacks digits");
		code = code << 4 | (uint32_t)(found - hex);
		parser->at++;
	}
	if (!code || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return literal_refuse(parser, "an escape is not a character");
	put_utf8(parser, code);
	return 0;
}

static int parse_escape(struct literal_parser *parser)
{
	static const char plain[] = "\\'\"ntrabfv";
	static const char meant[] = "\\'\"\n\t\r\a\b\f\v";
	int c = literal_peek(parser);
	const char *found = c > 0 ? strchr(plain, c) : NULL;

	if (found) {
		*parser->text++ = meant[found - plain];
		parser->at++;
		return 0;
	}
	if (c != 'x' && c != 'u' && c != 'U')
		return literal_refuse(parser, "an unknown escape");
	parser->at++;
	return parse_code(parser, c == 'x' ? 2 : c == 'u' ? 4 : 8);
}

static int parse_string(struct literal_parser *parser,
			struct dray_literal *literal)
{
	int quote = literal_peek(parser), ret = 0;

	literal->kind = DRAY_LITERAL_STRING;
	literal->text = parser->text;
	for (parser->at++; literal_peek(parser) != quote && !ret;) {
		int c = literal_peek(parser);

		if (c <= 0 || c == '\n')
			return literal_refuse(parser, "a string does not end");
		parser->at++;
		if (c == '\\')
			ret = parse_escape(parser);
		else
			*parser->text++ = (char)c;
	}
	if (ret)
		return ret;
	parser->at++;
	*parser->text++ = 0;
	return 0;
}

static int literal_parse_integer(struct literal_parser *parser,
				 struct dray_literal *literal)
{
	bool negative = literal_peek(parser) == '-';
	int64_t number = 0;

	if (negative)
		parser->at++;
	if (literal_peek(parser) < '0' || literal_peek(parser) > '9')
		return literal_refuse(parser, "no literal");
	for (; literal_peek(parser) >= '0' && literal_peek(parser) <= '9';
	     parser->at++) {
		if (dray_mul_overflow(number, 10, &number) ||
		    dray_add_overflow(number, literal_peek(parser) - '0',
				      &number))
			return literal_refuse(parser, "a number above 63 bits");
	}
	if (literal_peek(parser) == 'L') /* of Python 2 */
		parser->at++;
	literal->kind = DRAY_LITERAL_INTEGER;
	literal->integer = negative ? -number : number;
	return 0;
}

static int parse_word(struct literal_parser *parser,
		      struct dray_literal *literal)
{
	static const struct {
		const char *name;
		enum dray_literal_kind kind;
		int value;
	} words[] = {
		{ "None", DRAY_LITERAL_NONE, 0 },
		{ "True", DRAY_LITERAL_BOOL, 1 },
		{ "False", DRAY_LITERAL_BOOL, 0 },
	};
	size_t left = (size_t)(parser->end - parser->at), i, length;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		length = strlen(words[i].name);
		if (left < length || memcmp(parser->at, words[i].name, length))
			continue;
		literal->kind = words[i].kind;
		literal->integer = words[i].value;
		parser->at += length;
		return 0;
	}
	return literal_parse_integer(parser, literal);
}

static int parse_value(struct literal_parser *parser,
		       struct dray_literal **out);

/* Whether the last item so far is a key, which a value must follow. */
static bool is_key(const struct dray_literal *parent)
{
	return parent->kind == DRAY_LITERAL_DICT && parent->count % 2;
}

/* Parses items up to @end; in a dictionary, pairs with a colon. */
static int literal_parse_items(struct literal_parser *parser,
			       struct dray_literal *parent, char end,
			       bool *comma)
{
	const struct dray_literal **link = &parent->first;
	struct dray_literal *item;
	int ret;

	*comma = true;
	while (!literal_take(parser, end)) {
		bool is_value = is_key(parent);

		if (!is_value && !*comma)
			return literal_refuse(parser, "no comma between items");
		if (is_value && !literal_take(parser, ':'))
			return literal_refuse(parser, "a key without a value");
		ret = parse_value(parser, &item);
		if (ret)
			return ret;
		*link = item;
		link = &item->next;
		parent->count++;
		*comma = !is_key(parent) && literal_take(parser, ',');
	}
	return is_key(parent) ? literal_refuse(parser, "a key without a value")
			      : 0;
}

/* A tuple, or if no comma is there the value in the parentheses. */
static int parse_tuple(struct literal_parser *parser,
		       struct dray_literal *literal, struct dray_literal **out)
{
	bool comma;
	int ret;

	literal->kind = DRAY_LITERAL_TUPLE;
	ret = literal_parse_items(parser, literal, ')', &comma);
	if (!ret && literal->count == 1 && !comma) {
		/* The item is the next literal; the root stays the start. */
		const struct dray_literal *item = literal->first;

		*literal = *item;
	}
	*out = literal;
	return ret;
}

static int literal_parse_nested(struct literal_parser *parser,
				struct dray_literal *literal,
				struct dray_literal **out)
{
	int open = literal_peek(parser), ret;
	bool comma;

	if (parser->depth == DRAY_LITERAL_DEPTH)
		return literal_refuse(parser, "literals nested too deep");
	parser->depth++;
	parser->at++;
	*out = literal;
	if (open == '(') {
		ret = parse_tuple(parser, literal, out);
	} else {
		literal->kind =
			open == '[' ? DRAY_LITERAL_LIST : DRAY_LITERAL_DICT;
		ret = literal_parse_items(parser, literal,
					  open == '[' ? ']' : '}', &comma);
	}
	parser->depth--;
	return ret;
}

static int parse_value(struct literal_parser *parser, struct dray_literal **out)
{
	struct dray_literal *literal = parser->literal++;
	int c;

	literal_skip_spaces(parser);
	c = literal_peek(parser);
	/* Strings may begin with the prefix of Python 2 or 3. */
	if ((c == 'u' || c == 'b') && parser->end - parser->at > 1 &&
	    (parser->at[1] == '\'' || parser->at[1] == '"')) {
		parser->at++;
		c = literal_peek(parser);
	}
	*out = literal;
	if (c == '(' || c == '[' || c == '{')
		return literal_parse_nested(parser, literal, out);
	if (c == '\'' || c == '"')
		return parse_string(parser, literal);
	return parse_word(parser, literal);
}

int dray_literal_parse(const char *text, size_t size, const char *subject,
		       struct dray_literal **out)
{
	/* Each owns a byte, but for a character that lacks its last byte. */
	size_t count = size + 1, literals = count * sizeof(struct dray_literal);
	struct literal_parser parser = {
		.subject = subject,
		.start = text,
		.at = text,
		.end = text + size,
	};
	struct dray_literal *root;
	int ret;

	root = calloc(1, literals + size + 1);
	if (!root)
		return dray_fail(-ENOMEM, "%s: no memory to read %zu bytes",
				 subject, size);
	parser.literal = root;
	parser.text = (char *)(root + count);
	ret = parse_value(&parser, out);
	if (!ret) {
		literal_skip_spaces(&parser);
		if (parser.at < parser.end)
			ret = literal_refuse(&parser, "more than a literal");
	}
	if (ret)
		free(root);
	return ret;
}

const struct dray_literal *dray_literal_find(const struct dray_literal *dict,
					     const char *key)
{
	const struct dray_literal *item, *found = NULL;

	if (!dray_literal_is(dict, DRAY_LITERAL_DICT))
		return NULL;
	/* As in Python, the last of equal keys counts. */
	for (item = dict->first; item; item = item->next->next) {
		if (item->kind == DRAY_LITERAL_STRING &&
		    !strcmp(item->text, key))
			found = item->next;
	}
	return found;
}
