/* src/token/token.c - writing, reading and checking what clients carry for us. */
#include <assert.h>

#include "base/encode.h"
#include "base/hash.h"
#include "keys/bytes.h"
#include "token/token.h"

enum { CONTINUATION_VERSION = 1 };
enum { AT_VERSION = 0, AT_KIND = 1, AT_BODY = 2, NUMBER_BYTES = 8, CRC_BYTES = 4 };
enum { HASH_BYTES = 8, BODY_BYTES_MAX = 1 + RID_BYTES_MAX + HASH_BYTES + CONTINUATION_POSITION_BYTES_MAX };
enum { TOKEN_BYTES_MAX = AT_BODY + BODY_BYTES_MAX + CRC_BYTES };

static size_t put_query(uint8_t *to, const struct continuation *continuation)
{
    const struct rid *owner = &continuation->container;
    uint8_t *at = to;

    assert(continuation->position.size <= CONTINUATION_POSITION_BYTES_MAX);
    assert(owner->size <= RID_BYTES_MAX);
    *at++ = owner->size;
    at = mempcpy(at, owner->bytes, owner->size);
    put_be(at, continuation->query, HASH_BYTES);
    at = mempcpy(at + HASH_BYTES, continuation->position.data, continuation->position.size);
    return (size_t)(at - to);
}

/* The part that depends on the kind; returns its size. */
static size_t put_body(uint8_t *to, const struct continuation *continuation)
{
    const struct rid *rid = &continuation->after;

    if (continuation->kind == CONTINUATION_DOCUMENTS) {
        assert(continuation->container.size == RID_CONTAINER_BYTES);
        memcpy(to, continuation->container.bytes, RID_CONTAINER_BYTES);
        put_be(to + RID_CONTAINER_BYTES, continuation->after_number, NUMBER_BYTES);
        return RID_CONTAINER_BYTES + NUMBER_BYTES;
    }
    if (continuation->kind == CONTINUATION_QUERY)
        return put_query(to, continuation);
    assert(rid->size > 0);
    assert(rid->size <= RID_BYTES_MAX);
    memcpy(to, rid->bytes, rid->size);
    return rid->size;
}

void continuation_print(struct buf *out, const struct continuation *continuation)
{
    uint8_t token[TOKEN_BYTES_MAX] = { CONTINUATION_VERSION, (uint8_t)continuation->kind };
    size_t size = AT_BODY + put_body(token + AT_BODY, continuation);

    assert(size + CRC_BYTES <= sizeof(token));
    put_be(token + size, crc32c(0, token, size), CRC_BYTES);
    base64_encode(out, slice_make(token, size + CRC_BYTES));
}

static bool get_documents(struct slice body, const struct rid *owner, struct continuation *continuation)
{
    if (body.size != RID_CONTAINER_BYTES + NUMBER_BYTES)
        return false;
    continuation->container.size = RID_CONTAINER_BYTES;
    memcpy(continuation->container.bytes, body.data, RID_CONTAINER_BYTES);
    continuation->after_number = get_be(body.data + RID_CONTAINER_BYTES, NUMBER_BYTES);
    return rid_equal(&continuation->container, owner);
}

/* The last resource seen must be one that the feed could list: it lies below the feed's owner, at any depth. */
static bool get_catalog(struct slice body, const struct rid *owner, struct continuation *continuation)
{
    if (body.size > RID_BYTES_MAX || body.size <= owner->size)
        return false;
    continuation->after.size = (uint8_t)body.size;
    memcpy(continuation->after.bytes, body.data, body.size);
    return memcmp(continuation->after.bytes, owner->bytes, owner->size) == 0;
}

static bool get_query(struct op *op, struct slice body, const struct rid *owner,
                      struct continuation *continuation)
{
    if (body.size < 1u + owner->size + HASH_BYTES || (uint8_t)body.data[0] != owner->size ||
        memcmp(body.data + 1, owner->bytes, owner->size) != 0)
        return false;
    continuation->container = *owner;
    body = slice_after(body, 1u + owner->size);
    continuation->query = get_be(body.data, HASH_BYTES);
    continuation->position = arena_copy(&op->arena, slice_after(body, HASH_BYTES));
    return true;
}

/* Version, kind and checksum; what lies between them is the body. */
static bool open_continuation(struct slice text, enum continuation_kind kind, uint8_t token[TOKEN_BYTES_MAX],
                              struct slice *body)
{
    size_t size;

    if (!base64_decode(text, token, TOKEN_BYTES_MAX, &size) || size < AT_BODY + CRC_BYTES)
        return false;
    size -= CRC_BYTES;
    *body = slice_make(token + AT_BODY, size - AT_BODY);
    return token[AT_VERSION] == CONTINUATION_VERSION && token[AT_KIND] == kind &&
           get_be(token + size, CRC_BYTES) == crc32c(0, token, size);
}

enum status continuation_malformed(struct op *op)
{
    return op_fail(
        op, ST_BAD_REQUEST,
        "The continuation token specified in the request is malformed. Re-run the query without it "
        "and iterate.");
}

enum status continuation_parse(struct op *op, struct slice text, enum continuation_kind kind,
                               const struct rid *owner, struct continuation *continuation)
{
    uint8_t token[TOKEN_BYTES_MAX];
    struct slice body = { 0 }; /* -Os does not see that it is set wherever it is used */
    bool valid = open_continuation(text, kind, token, &body);

    *continuation = (struct continuation){ .kind = kind };
    if (!valid)
        return op_fail(op, ST_BAD_REQUEST, "Invalid Continuation Token");
    if (kind == CONTINUATION_DOCUMENTS)
        valid = get_documents(body, owner, continuation);
    else if (kind == CONTINUATION_QUERY)
        valid = get_query(op, body, owner, continuation);
    else
        valid = get_catalog(body, owner, continuation);
    return valid ? ST_OK : continuation_malformed(op);
}

/* Takes the text before the separator off the front. Without a separator it takes all, and the rest is absent. */
static struct slice take_until(struct slice *rest, char separator)
{
    const char *found = rest->size ? memchr(rest->data, separator, rest->size) : NULL;
    struct slice taken = *rest;

    if (!found) {
        *rest = (struct slice){ NULL, 0 };
        return taken;
    }
    taken.size = (size_t)(found - taken.data);
    *rest = slice_after(*rest, taken.size + 1);
    return taken;
}

void session_token_print(struct buf *out, uint32_t range, uint64_t lsn, bool plain)
{
    buf_u64(out, range);
    buf_text(out, plain ? ":" : ":-1#");
    buf_u64(out, lsn);
}

/* "<region>=<lsn>", both numbers, "#" between several. We have one region and only look at the shape. */
static bool regions_are_valid(struct slice regions)
{
    int64_t number;

    while (regions.data) {
        struct slice region = take_until(&regions, '#');
        struct slice id = take_until(&region, '=');

        if (!slice_to_i64(id, &number) || !slice_to_i64(region, &number))
            return false;
    }
    return true;
}

/* "<lsn>" or "<version>#<lsn>[#<region>=<lsn>...]". A negative LSN, "nothing seen yet", asks for nothing. */
static bool parse_lsn(struct slice token, int64_t *lsn)
{
    struct slice first = take_until(&token, '#');
    int64_t version;

    if (!token.data)
        return slice_to_i64(first, lsn);
    return slice_to_i64(first, &version) && slice_to_i64(take_until(&token, '#'), lsn) &&
           regions_are_valid(token);
}

/* One of the list. The range's data is NULL when it names none. */
static bool parse_session_token(struct slice text, struct slice *range, int64_t *lsn)
{
    struct slice rest = slice_trim(text);

    *range = (struct slice){ NULL, 0 };
    if (rest.size && memchr(rest.data, ':', rest.size)) {
        *range = take_until(&rest, ':');
        if (range->size == 0)
            return false;
    }
    return parse_lsn(rest, lsn);
}

static bool has_id(struct range_ids ranges, uint64_t id)
{
    for (uint32_t i = 0; i < ranges.count; i++)
        if (ranges.id[i] == id)
            return true;
    return false;
}

/*
 * A range that is gone may have had any of the keys. All ranges share the container's LSN, so a client that saw an LSN
 * through that range is owed it by every range. An id that we never gave out says nothing.
 */
static bool concerns(struct slice named, const struct session_ranges *ranges)
{
    uint64_t id;

    if (!named.data)
        return !ranges->apart;
    if (!slice_to_u64(named, &id) || id >= ranges->next_id)
        return false;
    if (has_id(ranges->live, id))
        return has_id(ranges->asked, id);
    return !ranges->apart || has_id(ranges->ancestors, id);
}

enum status session_token_lsn(struct op *op, struct slice header, const struct session_ranges *ranges,
                              uint64_t *lsn)
{
    struct slice whole = header;

    *lsn = 0;
    if (header.size == 0)
        return ST_OK;
    while (header.data) {
        struct slice named;
        int64_t asked;

        if (!parse_session_token(take_until(&header, ','), &named, &asked))
            return op_fail(op, ST_BAD_REQUEST, "The session token provided '%.*s' is invalid.",
                           whole.size > 200 ? 200 : (int)whole.size, whole.data);
        if (concerns(named, ranges) && asked > 0 && (uint64_t)asked > *lsn)
            *lsn = (uint64_t)asked;
    }
    return ST_OK;
}

enum status session_token_check(struct op *op, struct slice header)
{
    static const struct session_ranges none = { 0 };
    uint64_t lsn;

    return session_token_lsn(op, header, &none, &lsn);
}

enum { ETAG_BITS_SIZE = 24 }; /* of the text: what comes before the second */

static void put_hex(char *to, uint64_t number, int digits)
{
    for (; digits; number >>= 4)
        to[--digits] = "0123456789abcdef"[number & 15];
}

/* The etag's 64 bits in three groups, and the second in which it was written. Every document of a feed has one. */
static void spell_etag(char text[ETAG_SIZE + 1], uint64_t etag, int64_t ts_ms)
{
    memcpy(text, "\"00000000-0000-0000-0000-000000000000\"", ETAG_SIZE + 1);
    put_hex(text + 1, etag & 0xffffffff, 8);
    put_hex(text + 15, etag >> 32 & 0xffff, 4);
    put_hex(text + 20, etag >> 48, 4);
    put_hex(text + 25, (uint64_t)(ts_ms / 1000), 8);
}

void etag_print(struct buf *out, uint64_t etag, int64_t ts_ms)
{
    char text[ETAG_SIZE + 1];

    spell_etag(text, etag, ts_ms);
    buf_append(out, text, ETAG_SIZE);
}

static struct slice without_quotes(struct slice etag)
{
    if (slice_starts_with(etag, "W/"))
        etag = slice_after(etag, 2);
    if (etag.size >= 2 && etag.data[0] == '"' && etag.data[etag.size - 1] == '"')
        return slice_make(etag.data + 1, etag.size - 2);
    return etag;
}

/* The second is not compared: a script sees an item's etag before the commit, which may be in the next second. */
static bool is_etag(struct slice etag, const char *wanted)
{
    return etag.size == ETAG_SIZE - 2 && memcmp(etag.data, wanted, ETAG_BITS_SIZE) == 0;
}

static bool get_hex(struct slice text, size_t at, size_t digits, uint64_t *number)
{
    uint8_t bytes[8];
    size_t size;

    if (!hex_decode(slice_make(text.data + at, digits), bytes, sizeof(bytes), &size))
        return false;
    *number = 0;
    for (size_t i = 0; i < size; i++)
        *number = *number << 8 | bytes[i];
    return true;
}

bool etag_parse(struct slice header, uint64_t *etag)
{
    struct slice text = without_quotes(slice_trim(header));
    uint64_t low, middle, high;

    if (text.size != ETAG_SIZE - 2 || !get_hex(text, 0, 8, &low) || !get_hex(text, 14, 4, &middle) ||
        !get_hex(text, 19, 4, &high))
        return false;
    *etag = high << 48 | middle << 32 | low;
    return true;
}

bool etag_matches(struct slice header, uint64_t etag, int64_t ts_ms)
{
    char text[ETAG_SIZE + 1];

    spell_etag(text, etag, ts_ms);
    while (header.data) {
        struct slice one = slice_trim(take_until(&header, ','));

        if (slice_is(one, "*") || is_etag(without_quotes(one), text + 1))
            return true;
    }
    return false;
}
