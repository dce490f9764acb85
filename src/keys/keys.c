/* src/keys/keys.c - spelling keys and taking them apart. */
#include <assert.h>

#include "keys/bytes.h"
#include "keys/keys.h"

enum { PREFIX_BYTES = BUCKET_KEY_BYTES + 1 };

static void put_prefix(uint8_t *key, uint64_t bucket, enum key_kind kind)
{
    assert(bucket >> (8 * BUCKET_KEY_BYTES) == 0);
    put_be(key, bucket, BUCKET_KEY_BYTES);
    key[BUCKET_KEY_BYTES] = (uint8_t)kind;
}

/* Bucket, kind and room for the rest, which the caller fills in. */
static uint8_t *key_begin(struct arena *arena, uint64_t bucket, enum key_kind kind, size_t rest_bytes)
{
    uint8_t *key = arena_alloc(arena, PREFIX_BYTES + rest_bytes);

    put_prefix(key, bucket, kind);
    return key;
}

struct slice key_head(struct arena *arena, uint64_t bucket)
{
    return slice_make(key_begin(arena, bucket, KEY_HEAD, 0), PREFIX_BYTES);
}

struct slice key_document(struct arena *arena, uint64_t bucket, uint64_t number)
{
    uint8_t *key = key_begin(arena, bucket, KEY_DOCUMENT, 8);

    put_be(key + PREFIX_BYTES, number, 8);
    return slice_make(key, PREFIX_BYTES + 8);
}

/*
 * No EPK of a container is the beginning of another, so an id may follow it without a separator. The exception is the
 * empty EPK of a document without any key. FF stands for it, because no EPK begins with FF.
 */
static struct slice partition_part(struct slice epk)
{
    return epk.size ? epk : slice_make("\xff", 1);
}

struct slice key_id(struct arena *arena, uint64_t bucket, struct slice epk, struct slice id)
{
    struct slice partition = partition_part(epk);
    uint8_t *key = key_begin(arena, bucket, KEY_ID, partition.size + id.size);

    memcpy(key + PREFIX_BYTES, partition.data, partition.size);
    if (id.size)
        memcpy(key + PREFIX_BYTES + partition.size, id.data, id.size);
    return slice_make(key, PREFIX_BYTES + partition.size + id.size);
}

struct slice key_unique(struct arena *arena, uint64_t bucket, struct slice epk, uint8_t which,
                        struct hash128 values)
{
    struct slice partition = partition_part(epk);
    uint8_t *key = key_begin(arena, bucket, KEY_UNIQUE, partition.size + 17);
    uint8_t *rest = key + PREFIX_BYTES + partition.size;

    memcpy(key + PREFIX_BYTES, partition.data, partition.size);
    rest[0] = which;
    put_be(rest + 1, values.h1, 8);
    put_be(rest + 9, values.h2, 8);
    return slice_make(key, PREFIX_BYTES + partition.size + 17);
}

static struct slice key_below(struct arena *arena, uint64_t bucket, enum key_kind kind, uint64_t document,
                              uint32_t attachment)
{
    uint8_t *key = key_begin(arena, bucket, kind, 12);

    put_be(key + PREFIX_BYTES, document, 8);
    put_be(key + PREFIX_BYTES + 8, attachment, 4);
    return slice_make(key, PREFIX_BYTES + 12);
}

struct slice key_attachment(struct arena *arena, uint64_t bucket, uint64_t document, uint32_t attachment)
{
    return key_below(arena, bucket, KEY_ATTACHMENT, document, attachment);
}

struct slice key_media(struct arena *arena, uint64_t bucket, uint64_t document, uint32_t attachment)
{
    return key_below(arena, bucket, KEY_MEDIA, document, attachment);
}

struct slice key_attachments_first(struct arena *arena, uint64_t bucket, uint64_t document)
{
    struct slice key = key_below(arena, bucket, KEY_ATTACHMENT, document, 0);

    return slice_make(key.data, key.size - 4);
}

struct slice key_index_put(uint8_t *to, uint64_t bucket, struct slice term, uint64_t number)
{
    put_prefix(to, bucket, KEY_INDEX);
    memcpy(to + PREFIX_BYTES, term.data, term.size);
    put_be(to + PREFIX_BYTES + term.size, number, 8);
    return slice_make(to, PREFIX_BYTES + term.size + 8);
}

struct slice key_index(struct arena *arena, uint64_t bucket, struct slice term, uint64_t number)
{
    return key_index_put(arena_alloc(arena, KEY_INDEX_BYTES + term.size), bucket, term, number);
}

struct slice key_index_term_put(uint8_t *to, uint64_t bucket, struct slice term)
{
    put_prefix(to, bucket, KEY_INDEX);
    if (term.size)
        memcpy(to + PREFIX_BYTES, term.data, term.size);
    return slice_make(to, PREFIX_BYTES + term.size);
}

struct slice key_index_term(struct arena *arena, uint64_t bucket, struct slice term)
{
    return key_index_term_put(arena_alloc(arena, PREFIX_BYTES + term.size), bucket, term);
}

struct slice key_log(struct arena *arena, uint64_t bucket, uint64_t lsn, uint32_t position)
{
    uint8_t *key = key_begin(arena, bucket, KEY_LOG, 12);

    put_be(key + PREFIX_BYTES, lsn, 8);
    put_be(key + PREFIX_BYTES + 8, position, 4);
    return slice_make(key, PREFIX_BYTES + 12);
}

struct slice key_next(struct arena *arena, uint64_t bucket, uint64_t lsn, uint64_t number)
{
    uint8_t *key = key_begin(arena, bucket, KEY_NEXT, 16);

    put_be(key + PREFIX_BYTES, lsn, 8);
    put_be(key + PREFIX_BYTES + 8, number, 8);
    return slice_make(key, PREFIX_BYTES + 16);
}

struct slice key_trimmed(struct arena *arena, uint64_t bucket)
{
    return slice_make(key_begin(arena, bucket, KEY_TRIMMED, 0), PREFIX_BYTES);
}

static struct slice key_of_rid(struct arena *arena, enum key_kind kind, struct slice rid)
{
    uint8_t *key = key_begin(arena, 0, kind, rid.size);

    if (rid.size)
        memcpy(key + PREFIX_BYTES, rid.data, rid.size);
    return slice_make(key, PREFIX_BYTES + rid.size);
}

struct slice key_catalog(struct arena *arena, struct slice rid)
{
    return key_of_rid(arena, KEY_CATALOG, rid);
}

struct slice key_offer(struct arena *arena, struct slice owner_rid)
{
    return key_of_rid(arena, KEY_OFFER, owner_rid);
}

struct slice key_dropped(struct arena *arena, uint64_t container)
{
    uint8_t *key = key_begin(arena, 0, KEY_DROPPED, 8);

    put_be(key + PREFIX_BYTES, container, 8);
    return slice_make(key, PREFIX_BYTES + 8);
}

struct slice key_past(struct arena *arena)
{
    return slice_make(key_begin(arena, 0, KEY_PAST, 0), PREFIX_BYTES);
}

struct slice key_held(struct arena *arena)
{
    return slice_make(key_begin(arena, 0, KEY_HELD, 0), PREFIX_BYTES);
}

struct slice key_token(struct arena *arena, uint64_t bucket, struct slice token)
{
    uint8_t *key = key_begin(arena, bucket, KEY_TOKEN, token.size);

    memcpy(key + PREFIX_BYTES, token.data, token.size);
    return slice_make(key, PREFIX_BYTES + token.size);
}

struct slice key_runs(struct arena *arena)
{
    return slice_make(key_begin(arena, 0, KEY_RUNS, 0), PREFIX_BYTES);
}

struct slice key_copying(struct arena *arena)
{
    return slice_make(key_begin(arena, COPYING_BUCKET, KEY_COPYING, 0), PREFIX_BYTES);
}

struct slice key_settled(struct arena *arena, uint64_t bucket)
{
    return slice_make(key_begin(arena, bucket, KEY_SETTLED, 0), PREFIX_BYTES);
}

struct slice key_kind_first(struct arena *arena, uint64_t bucket, enum key_kind kind)
{
    return slice_make(key_begin(arena, bucket, kind, 0), PREFIX_BYTES);
}

struct slice key_kind_end(struct arena *arena, uint64_t bucket, enum key_kind kind)
{
    return slice_make(key_begin(arena, bucket, kind + 1, 0), PREFIX_BYTES);
}

struct slice key_bucket_first(struct arena *arena, uint64_t bucket)
{
    return slice_make(key_begin(arena, bucket, 0, 0), BUCKET_KEY_BYTES);
}

struct slice key_bucket_end(struct arena *arena, uint64_t bucket)
{
    return key_bucket_first(arena, bucket + 1);
}

void key_step_behind(struct buf *from, struct slice key)
{
    assert(slice_compare(buf_as_slice(from), key) <= 0); /* a scan only goes forward */
    from->size = 0;
    buf_slice(from, key);
    buf_byte(from, '\0');
}

bool key_parse(struct slice key, struct key_parts *parts)
{
    static const char kinds[] = { KEY_HEAD,    KEY_DOCUMENT, KEY_ID,      KEY_UNIQUE,     KEY_LOG,
                                  KEY_CATALOG, KEY_OFFER,    KEY_DROPPED, KEY_ATTACHMENT, KEY_MEDIA,
                                  KEY_INDEX,   KEY_RUNS,     KEY_SETTLED, KEY_NEXT,       KEY_TRIMMED,
                                  KEY_PAST,    KEY_TOKEN,    KEY_COPYING, KEY_HELD };

    if (key.size < PREFIX_BYTES || !memchr(kinds, key.data[BUCKET_KEY_BYTES], sizeof(kinds)))
        return false;
    parts->bucket = get_be(key.data, BUCKET_KEY_BYTES);
    parts->kind = (enum key_kind)key.data[BUCKET_KEY_BYTES];
    parts->rest = slice_after(key, PREFIX_BYTES);
    return true;
}

bool key_parse_document(const struct key_parts *parts, uint64_t *number)
{
    if (parts->kind != KEY_DOCUMENT || parts->rest.size != 8)
        return false;
    *number = get_be(parts->rest.data, 8);
    return true;
}

bool key_parse_attachment(const struct key_parts *parts, uint64_t *document, uint32_t *attachment)
{
    if ((parts->kind != KEY_ATTACHMENT && parts->kind != KEY_MEDIA) || parts->rest.size != 12)
        return false;
    *document = get_be(parts->rest.data, 8);
    *attachment = (uint32_t)get_be(parts->rest.data + 8, 4);
    return true;
}

bool key_parse_index(const struct key_parts *parts, struct slice *term, uint64_t *number)
{
    if (parts->kind != KEY_INDEX || parts->rest.size <= 8)
        return false;
    *term = slice_make(parts->rest.data, parts->rest.size - 8);
    *number = get_be(parts->rest.data + term->size, 8);
    return true;
}

bool key_parse_log(const struct key_parts *parts, uint64_t *lsn, uint32_t *position)
{
    if (parts->kind != KEY_LOG || parts->rest.size != 12)
        return false;
    *lsn = get_be(parts->rest.data, 8);
    *position = (uint32_t)get_be(parts->rest.data + 8, 4);
    return true;
}

bool key_parse_next(const struct key_parts *parts, uint64_t *lsn, uint64_t *number)
{
    if (parts->kind != KEY_NEXT || parts->rest.size != 16)
        return false;
    *lsn = get_be(parts->rest.data, 8);
    *number = get_be(parts->rest.data + 8, 8);
    return true;
}

bool key_parse_dropped(const struct key_parts *parts, uint64_t *container)
{
    if (parts->kind != KEY_DROPPED || parts->rest.size != 8)
        return false;
    *container = get_be(parts->rest.data, 8);
    return true;
}
