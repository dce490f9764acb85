/*
 * src/json/json.h - JSON values in the binary form that storage, index and query share.
 * Text is parsed once, where it comes in, and printed once, where it goes out. The bytes
 * of a value are one of (integers are little-endian):
 *
 *     01 null   02 false   03 true
 *     04 i8     05 i16     06 i32     07 i64      the shortest that holds the number
 *     08 f64                                      a number that is no int64
 *     09 u32 size, bytes                          a string of 64 bytes or more
 *     0a u32 size, bytes                          a string of any size that JSON must escape
 *     0b u32 body size, u32 count, values         an array
 *     0c u32 body size, u32 count, (name value)*  an object; a name is a string
 *     20-3f                                       the integers 0 to 31
 *     40-7f bytes                                 a string of 0 to 63 bytes
 *
 * Strings are UTF-8. There is one encoding for each value, so equal scalars have equal bytes.
 * A number with a fraction or an exponent whose value is an int64 is stored as that int64
 * ("1.0" is 1, "-0" is 0): to a client both are one number, and printing then parsing gives
 * the same bytes.
 *
 * Ownership. A value points into bytes that somebody else owns and lives as long as they do.
 * Threads. Nothing here has state.
 */
#pragma once
#include "base/hash.h"
#include "base/limits.h"
#include "base/op.h"

enum json_kind { /* in ORDER BY order */
                 JSON_UNDEFINED,
                 JSON_NULL,
                 JSON_FALSE,
                 JSON_TRUE,
                 JSON_NUMBER,
                 JSON_STRING,
                 JSON_ARRAY,
                 JSON_OBJECT,
};

/* Points at the value's first byte. NULL is undefined: what a path that leads nowhere gives. */
struct json {
    const uint8_t *at;
};

static const struct json json_undefined = { NULL };

/*
 * Text to value: one value, RFC 8259, nothing but white space around it. What is wrong is told
 * to the client as a 400: malformed text, invalid UTF-8, a number too large for a double,
 * deeper than JSON_DEPTH_MAX. docs/compat.md has the choices where the RFC leaves one.
 */
enum status json_parse(struct op *op, struct slice text, struct json *value);

/* Value to text, without white space. Numbers look as JavaScript prints them. */
void json_print(struct buf *out, struct json value);

/* The members of an object, without its braces; says whether it wrote any. */
bool json_print_members(struct buf *out, struct json object);

/* Text as a JSON string, quotes included. */
void json_print_string(struct buf *out, struct slice text);
void json_print_double(struct buf *out, double number);

enum json_kind json_kind(struct json value);
size_t json_size(struct json value); /* in bytes, the tag included */

/* The whole value as bytes, and back. json_check() must have passed on bytes from outside. */
struct slice json_bytes(struct json value);
struct json json_from_bytes(struct slice bytes);

/* Whether the bytes are one object by the size it gives itself: cheap, and enough to walk what a CRC has vouched for. */
bool json_fills(struct slice bytes);

/* Every tag known, every size inside its parent, names are strings, UTF-8 valid, depth within limits. */
bool json_check(struct slice bytes);

/* Each asks for its own kind; the caller has looked at json_kind(). */
bool json_is_int(struct json number);
int64_t json_int(struct json number);
double json_double(struct json number); /* an int64 is rounded to the nearest double */
bool json_number(struct json number, int64_t *integer,
                 double *nearest); /* both at once; false, and no integer: it is none */
struct slice json_string(struct json string);
size_t json_count(struct json container); /* elements or members */

/* Undefined when there is none, or when the value is no object (no array). */
struct json json_member(struct json object, struct slice name);
struct json json_element(struct json array, size_t index);

static inline struct json json_get(struct json object, const char *name)
{
    return json_member(object, slice_of(name));
}

/* for (struct json_iter i = json_iter(v); json_next(&i);) { i.name, i.value } */
struct json_iter {
    const uint8_t *next, *end;
    bool is_object;
    struct slice name; /* of an object's member */
    struct json value;
};

struct json_iter json_iter(struct json container); /* a scalar has nothing to visit */
bool json_next(struct json_iter *iter);

/*
 * Equality as the query language sees it: 1 equals 1.0, members in any order.
 * The order is that of ORDER BY; containers of one kind are ordered by json_order_hash().
 */
bool json_equal(struct json a, struct json b);
int json_compare(struct json a, struct json b);

/*
 * Of a defined value: the hash by which SDKs order arrays among arrays and objects among objects, and name them to us.
 * h1 is what they call low. Slower than json_hash(), which is ours and on disk.
 */
struct hash128 json_order_hash(struct json value);
int json_order_hash_compare(struct hash128 a, struct hash128 b);

/*
 * Equal values have equal hashes. The first is on disk and public: anybody can make other values that have it, so
 * whoever finds something by it compares values. The second stands for its value, as long as the seed is secret.
 */
struct hash128 json_hash(struct json value);
struct hash128 json_hash_seeded(struct hash_seed seed, struct json value);

/*
 * The same for an array or an object whose elements' hashes are known, so that those of a deep one need not be
 * made again at each level. Every element or member is added, in order; the name's hash is murmur3_128() of it.
 */
struct json_hasher {
    struct hash128 so_far, head;
    bool is_object;
};

struct json_hasher json_hasher(struct json container);
void json_hasher_element(struct json_hasher *hasher, struct hash128 value);
void json_hasher_member(struct json_hasher *hasher, struct hash128 name, struct hash128 value);
struct hash128 json_hasher_end(const struct json_hasher *hasher);

/*
 * Builds a value. Calls nest as JSON does; inside an object each value follows json_add_name().
 *     json_begin_object(&b); json_add_name(&b, slice_of("id")); json_add_string(&b, id); json_end(&b);
 */
struct json_builder {
    struct buf out;
    uint32_t open[JSON_DEPTH_MAX + 1], count[JSON_DEPTH_MAX + 1]; /* where each open container starts */
    int depth;
};

void json_builder_init(struct json_builder *builder, struct arena *arena);
void json_begin_object(struct json_builder *builder);
void json_begin_array(struct json_builder *builder);
void json_end(struct json_builder *builder);
void json_add_name(struct json_builder *builder, struct slice name);
void json_add_null(struct json_builder *builder);
void json_add_bool(struct json_builder *builder, bool value);
void json_add_int(struct json_builder *builder, int64_t number);
void json_add_double(struct json_builder *builder, double number); /* finite */

/*
 * A number that JSON lacks: infinite, or none. Queries compute with such, inside of arrays and objects, too. It is
 * written, as text or in the binary form of SDKs, as the string of its name; nobody stores one.
 */
void json_add_not_finite(struct json_builder *builder, double number);

/* "NaN", "Infinity" or "-Infinity". */
struct slice json_name_not_finite(double number);
void json_add_string(struct json_builder *builder, struct slice utf8);
void json_add(struct json_builder *builder, struct json value); /* a copy */

/* Copies of the members of an object, less the one that is named; NULL: all of them. */
void json_add_members(struct json_builder *builder, struct json object, const char *but);

/* The finished value; undefined when the arena's limit was reached on the way. */
struct json json_built(const struct json_builder *builder);

/* The object less one of its members; undefined likewise. */
struct json json_without(struct arena *arena, struct json object, const char *name);

/*
 * The object without so many of its last members, and these. Of none, or when the arena's limit is reached, the front is
 * all of it and the back is undefined.
 */
void json_split(struct arena *arena, struct json object, size_t last, struct json *front, struct json *back);
