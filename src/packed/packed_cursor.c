/* src/packed/packed_cursor.c - a walk over one path: its pieces in the deltas and its pages in the runs, joined. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/bytes.h"
#include "keys/keys.h"
#include "keys/ordered.h"
#include "packed/join.h"
#include "packed/packed_private.h"
#include "packed/paths.h"
#include "packed/piece_stream.h"
#include "packed/run_stream.h"

enum { TERM_AT = KEY_INDEX_TERM, PATH_BYTES = 8, VALUE_AT = TERM_AT + PATH_BYTES };

/* What part of the index is walked or counted: one bucket, one path, values between two. */
struct part {
    uint64_t bucket, path;
    struct value_range values;
    struct slice low, high; /* places in runs: bucket and term */
};

struct packed_cursor {
    struct packed *packed;
    struct packed_pin *pin;
    struct part part;
    struct bounds bounds;
    uint64_t lsn;
    bool spans; /* all paths of the bucket, of which `part` is one */
    struct run_reader *reader;
    struct stream **stream; /* oldest first: those of runs, then those of pieces */
    size_t count, capacity;
    struct join join;
    char *term; /* path and value of the block that was given last */
    size_t term_capacity;
    char places[]; /* of the part */
};

static bool is_whole_bucket(struct slice from)
{
    return from.size < VALUE_AT;
}

/* ---- the part ---- */

/* A key of the index without its kind: bucket, term. */
static struct slice place_into(char *to, struct slice key)
{
    memcpy(to, key.data, PAGE_BUCKET_BYTES);
    memcpy(to + PAGE_BUCKET_BYTES, key.data + TERM_AT, key.size - TERM_AT);
    return slice_make(to, key.size - 1);
}

/* Where `to` lies beyond the path the walk goes to the path's end: the least place of the next one. */
static struct slice end_into(char *to, const struct part *part, struct slice key)
{
    size_t at = PAGE_TERM_AT;

    if (key.size >= VALUE_AT && get_be(key.data + TERM_AT, PATH_BYTES) == part->path)
        return place_into(to, key);
    put_be((uint8_t *)to, part->bucket, PAGE_BUCKET_BYTES);
    put_be((uint8_t *)to + PAGE_BUCKET_BYTES, part->path, PATH_BYTES);
    while (at > 0 && (uint8_t)to[at - 1] == 0xff)
        at--;
    assert(at > 0); /* no bucket has a number of ones only */
    to[at - 1]++;
    return slice_make(to, at);
}

/* `memory` has room for both keys. */
static void part_init(struct part *part, char *memory, struct slice from, struct slice to)
{
    assert(from.size >= VALUE_AT);
    assert(key_is_index(from));
    assert(from.size <= PAGE_TERM_BYTES_MAX);
    assert(to.size <= PAGE_TERM_BYTES_MAX);
    part->bucket = key_bucket(from);
    part->path = get_be(from.data + TERM_AT, PATH_BYTES);
    part->low = place_into(memory, from);
    part->high = end_into(memory + part->low.size, part, to);
    part->values.from = slice_after(part->low, PAGE_TERM_AT);
    part->values.to = (struct slice){ 0 };
    if (part->high.size > PAGE_TERM_AT)
        part->values.to = slice_after(part->high, PAGE_TERM_AT);
}

/* A path with all its values. */
static void part_of_path(struct part *part, char *memory, uint64_t bucket, uint64_t path)
{
    uint8_t term[PATH_BYTES], from[VALUE_AT], to[1] = { 0 };

    put_be(term, path, PATH_BYTES);
    part_init(part, memory, key_index_term_put(from, bucket, slice_make(term, PATH_BYTES)),
              slice_make(to, 0));
}

static size_t part_bytes(struct slice from, struct slice to)
{
    return from.size + to.size + 2 * PAGE_TERM_AT;
}

static bool begins_with(struct slice bytes, struct slice prefix)
{
    return bytes.size >= prefix.size && memcmp(bytes.data, prefix.data, prefix.size) == 0;
}

/* The least bytes above all that begin with the prefix. */
static bool ends_prefix(struct slice end, struct slice prefix)
{
    size_t size = prefix.size;

    while (size > 0 && (uint8_t)prefix.data[size - 1] == 0xff)
        size--;
    return size > 0 && end.size == size && memcmp(end.data, prefix.data, size - 1) == 0 &&
           (uint8_t)end.data[size - 1] == (uint8_t)prefix.data[size - 1] + 1;
}

/* Whether terms of the part all have one first value, and so one hash in filters. */
static bool part_hash(const struct part *part, uint64_t *hash)
{
    struct slice term = slice_after(part->low, PAGE_BUCKET_BYTES);
    size_t value_bytes = part->values.from.size ? ordered_size(part->values.from) : 0;
    struct slice one = slice_make(part->low.data, PAGE_TERM_AT + value_bytes);

    if (value_bytes == 0 || !(begins_with(part->high, one) || ends_prefix(part->high, one)))
        return false;
    return filter_hash(part->bucket, term, hash);
}

static bool may_have(const struct run *run, bool has_hash, uint64_t hash)
{
    return !has_hash || !run_filter(run) || filter_may_have(run_filter(run), hash);
}

/* ---- streams ---- */

static void add_stream(struct packed_cursor *cursor, struct stream *stream)
{
    heap_list_reserve(&cursor->stream, &cursor->capacity, cursor->count + 1, sizeof(*cursor->stream));
    cursor->stream[cursor->count++] = stream;
}

static enum status add_run(struct op *op, struct packed_cursor *cursor, struct run *run, struct bounds bounds)
{
    struct run_stream *stream = heap_allocate_unset(sizeof(*stream));

    run_stream_open(stream, cursor->reader, run_facts(run)->id, cursor->part.low, cursor->part.high,
                    PAGE_TERM_AT, bounds);
    add_stream(cursor, &stream->stream);
    return run_stream_start(op, stream);
}

/* Of the part's path in a delta. */
static enum status list_pieces(struct op *op, const struct part *part, struct delta *delta,
                               struct piece *piece[PIECES_MAX], struct delta_path **path, size_t *count)
{
    *count = 0;
    *path = delta_find(delta, part->bucket, part->path);
    if (*path && op->may_block)
        *count = piece_list(*path, piece);
    else if (*path)
        return piece_list_soon(op, *path, piece, count);
    return ST_OK;
}

static enum status add_pieces(struct op *op, struct packed_cursor *cursor, struct delta *delta,
                              struct bounds bounds, uint64_t lsn)
{
    const struct part *part = &cursor->part;
    struct delta_path *path;
    struct piece *piece[PIECES_MAX];
    size_t count;
    enum status st;

    TRY(list_pieces(op, part, delta, piece, &path, &count));
    for (size_t i = 0; i < count; i++) {
        struct piece_stream *stream = heap_allocate_unset(sizeof(*stream));

        piece_stream_open(stream, path, piece[i], &part->values, bounds, lsn);
        add_stream(cursor, &stream->stream);
    }
out:
    return st;
}

static enum status add_streams(struct op *op, struct packed_cursor *cursor)
{
    struct bounds bounds = cursor->bounds;
    struct packed_pin *pin = cursor->pin;
    uint64_t lsn = cursor->lsn;
    uint64_t hash = 0;
    bool has_hash = part_hash(&cursor->part, &hash);
    enum status st = ST_OK;

    for (size_t i = 0; i < pin->run_count; i++)
        if (may_have(pin->run[i], has_hash, hash))
            TRY(add_run(op, cursor, pin->run[i], bounds));
    if (pin->sealed)
        TRY(add_pieces(op, cursor, pin->sealed, bounds, lsn));
    TRY(add_pieces(op, cursor, pin->active, bounds, lsn));
out:
    return st;
}

/* ---- the walk ---- */

static void close_streams(struct packed_cursor *cursor)
{
    for (size_t i = 0; i < cursor->count; i++) {
        cursor->stream[i]->ops->close(cursor->stream[i]);
        free(cursor->stream[i]);
    }
    cursor->count = 0;
    join_lay(&cursor->join, NULL, 0);
}

static enum status open_part(struct op *op, struct packed_cursor *cursor)
{
    enum status st = ST_OK;

    if (slice_compare(cursor->part.low, cursor->part.high) < 0)
        TRY(add_streams(op, cursor));
    join_lay(&cursor->join, cursor->stream, cursor->count);
out:
    return st;
}

/* In a walk over a whole bucket, from one path to the next; without one the first. */
static enum status open_next_path(struct op *op, struct packed_cursor *cursor, const uint64_t *path,
                                  bool *found)
{
    uint64_t bucket = cursor->part.bucket, next;
    enum status st;

    assert(cursor->spans); /* a walk over one path ends with it */
    close_streams(cursor);
    TRY(paths_next(op, cursor->pin, cursor->reader, bucket, path, cursor->bounds.reverse, found, &next));
    if (!*found)
        goto out;
    part_of_path(&cursor->part, cursor->places, bucket, next);
    TRY(open_part(op, cursor));
out:
    return st;
}

static enum status begin_walk(struct op *op, struct packed_cursor *cursor, const struct packed_walk *walk)
{
    bool found;

    if (!cursor->spans) {
        part_init(&cursor->part, cursor->places, walk->from, walk->to);
        return open_part(op, cursor);
    }
    cursor->part.bucket = key_bucket(walk->from);
    return open_next_path(op, cursor, NULL, &found);
}

static struct packed_cursor *cursor_new(struct packed *packed, struct packed_pin *pin,
                                        const struct packed_walk *walk)
{
    struct packed_cursor *cursor = heap_allocate_unset(sizeof(*cursor) + part_bytes(walk->from, walk->to));

    assert(pin);
    cursor->packed = packed;
    cursor->pin = layers_hold(pin);
    cursor->bounds = (struct bounds){ walk->first, walk->last, walk->reverse };
    cursor->lsn = walk->lsn;
    cursor->spans = is_whole_bucket(walk->from);
    cursor->reader = packed_take_reader(packed);
    cursor->stream = NULL;
    cursor->count = cursor->capacity = cursor->term_capacity = 0;
    cursor->term = NULL;
    join_init(&cursor->join, walk->reverse, false);
    return cursor;
}

enum status packed_cursor_open(struct op *op, struct packed *packed, struct packed_pin *pin,
                               const struct packed_walk *walk, struct packed_cursor **cursor)
{
    struct packed_cursor *opened = NULL;
    enum status st = ST_OK;

    if (is_whole_bucket(walk->from))
        TRY(op_may_take_long(op));
    opened = cursor_new(packed, pin, walk);
    if (packed_is_dropped(packed, key_bucket(walk->from)))
        opened->spans = false; /* and nothing is in it */
    else
        TRY(begin_walk(op, opened, walk));
    *cursor = opened;
out:
    if (st != ST_OK)
        packed_cursor_end(opened);
    return st;
}

void packed_cursor_end(struct packed_cursor *cursor)
{
    if (!cursor)
        return;
    close_streams(cursor);
    packed_give_reader(cursor->packed, cursor->reader);
    join_free(&cursor->join);
    packed_unpin(cursor->packed, cursor->pin);
    free(cursor->stream);
    free(cursor->term);
    free(cursor);
}

static struct slice whole_term(struct packed_cursor *cursor, struct slice value)
{
    size_t bytes = PATH_BYTES + value.size;

    if (bytes > cursor->term_capacity) {
        free(cursor->term);
        cursor->term_capacity = 2 * bytes;
        cursor->term = heap_allocate_unset(cursor->term_capacity);
    }
    put_be((uint8_t *)cursor->term, cursor->part.path, PATH_BYTES);
    if (value.size)
        memcpy(cursor->term + PATH_BYTES, value.data, value.size);
    return slice_make(cursor->term, bytes);
}

enum status packed_cursor_next(struct op *op, struct packed_cursor *cursor, struct packed_block *block)
{
    struct join_block joined;
    bool found = true;
    enum status st;

    *block = (struct packed_block){ 0 };
    TRY(join_next(op, &cursor->join, &joined));
    while (joined.count == 0 && cursor->spans && found) {
        uint64_t path = cursor->part.path;

        TRY(open_next_path(op, cursor, &path, &found));
        TRY(join_next(op, &cursor->join, &joined));
    }
    if (joined.count > 0)
        *block = (struct packed_block){ whole_term(cursor, joined.value), joined.number, joined.count };
out:
    return st;
}

/* To the term's path, or beyond it; never back. */
static enum status seek_path(struct op *op, struct packed_cursor *cursor, uint64_t path)
{
    bool found = true;
    enum status st = ST_OK;

    assert(cursor->spans);
    while (found && comes_before(cursor->part.path, path, cursor->bounds.reverse)) {
        uint64_t here = cursor->part.path;

        TRY(open_next_path(op, cursor, &here, &found));
    }
out:
    return st;
}

enum status packed_cursor_seek(struct op *op, struct packed_cursor *cursor, struct slice term,
                               uint64_t number)
{
    uint64_t path;
    enum status st = ST_OK;

    assert(term.size >= PATH_BYTES);
    path = get_be(term.data, PATH_BYTES);
    if (cursor->spans && cursor->count > 0)
        TRY(seek_path(op, cursor, path));
    if (cursor->count > 0 && cursor->part.path == path)
        TRY(join_seek(op, &cursor->join, slice_after(term, PATH_BYTES), number));
out:
    return st;
}

/* ---- counting ---- */

static enum status count_run(struct op *op, struct run_reader *reader, const struct part *part,
                             const struct run *run, int64_t *count)
{
    const struct run_facts *facts = run_facts(run);
    struct run_stream *stream = heap_allocate_unset(sizeof(*stream));
    int64_t before, upto;
    enum status st;

    run_stream_open(stream, reader, facts->id, part->low, part->high, PAGE_TERM_AT, (struct bounds){ 0 });
    TRY(op_spend_often(op, 1));
    TRY(run_rank(op, stream, facts, part->low, &before));
    TRY(run_rank(op, stream, facts, part->high, &upto));
    *count += upto - before;
out:
    stream->stream.ops->close(&stream->stream);
    free(stream);
    return st;
}

static enum status count_delta(struct op *op, struct delta *delta, const struct part *part, uint64_t lsn,
                               int64_t *count)
{
    struct delta_path *path;
    struct piece *piece[PIECES_MAX];
    size_t pieces;
    enum status st;

    TRY(list_pieces(op, part, delta, piece, &path, &pieces));
    for (size_t i = 0; i < pieces; i++) {
        int64_t found = 0;

        if (st == ST_OK)
            st = op_spend_often(op, 1);
        if (st == ST_OK)
            st = piece_count(op, path, piece[i], &part->values, lsn, &found);
        *count += found;
        piece_release(piece[i]);
    }
out:
    return st;
}

static enum status count_runs(struct op *op, struct packed *packed, const struct packed_pin *pin,
                              const struct part *part, int64_t *count)
{
    struct run_reader *reader = packed_take_reader(packed);
    uint64_t hash = 0;
    bool has_hash = part_hash(part, &hash);
    enum status st = ST_OK;

    for (size_t i = 0; i < pin->run_count; i++)
        if (may_have(pin->run[i], has_hash, hash))
            TRY(count_run(op, reader, part, pin->run[i], count));
out:
    packed_give_reader(packed, reader);
    return st;
}

static enum status count_deltas(struct op *op, const struct packed_pin *pin, const struct part *part,
                                bool spans, uint64_t lsn, int64_t *count)
{
    enum status st = ST_OK;

    if (pin->sealed)
        TRY(spans ? paths_count(op, pin->sealed, part->bucket, lsn, count)
                  : count_delta(op, pin->sealed, part, lsn, count));
    TRY(spans ? paths_count(op, pin->active, part->bucket, lsn, count)
              : count_delta(op, pin->active, part, lsn, count));
out:
    return st;
}

/* All of a bucket. */
static void part_of_bucket(struct part *part, char *memory, struct slice from)
{
    part->bucket = key_bucket(from);
    assert(part->bucket < RUN_FILTER_BUCKET); /* there is a number after it */
    put_be((uint8_t *)memory, part->bucket, PAGE_BUCKET_BYTES);
    put_be((uint8_t *)memory + PAGE_BUCKET_BYTES, part->bucket + 1, PAGE_BUCKET_BYTES);
    part->low = slice_make(memory, PAGE_BUCKET_BYTES);
    part->high = slice_make(memory + PAGE_BUCKET_BYTES, PAGE_BUCKET_BYTES);
    part->values = (struct value_range){ 0 };
}

enum status packed_count(struct op *op, struct packed *packed, struct packed_pin *pin, struct slice from,
                         struct slice to, uint64_t lsn, uint64_t *count)
{
    bool spans = is_whole_bucket(from);
    char *places = NULL;
    struct part part;
    int64_t sum = 0;
    enum status st = ST_OK;

    assert(pin);
    *count = 0;
    if (spans)
        TRY(op_may_take_long(op));
    places = heap_allocate_unset(part_bytes(from, to));
    if (spans)
        part_of_bucket(&part, places, from);
    else
        part_init(&part, places, from, to);
    if (packed_is_dropped(packed, part.bucket) || slice_compare(part.low, part.high) >= 0)
        goto out;
    TRY(count_runs(op, packed, pin, &part, &sum));
    TRY(count_deltas(op, pin, &part, spans, lsn, &sum));
    *count = sum > 0 ? (uint64_t)sum : 0;
out:
    free(places);
    return st;
}
