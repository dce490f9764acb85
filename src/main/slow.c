/* src/main/slow.c - a fixed number of rows, by what was asked. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "base/hash.h"
#include "base/heap.h"
#include "main/slow.h"

enum { ROWS = 32, LINK_BYTES = 600, QUERY_BYTES = 2048, PLAN_BYTES = 4096 };

struct slow_row {
    struct hash128 hash;   /* of what was asked, all of it */
    const char *operation; /* NULL: the row is free */
    uint64_t count, total_us, worst_us;
    int64_t last_ms;
    double charge; /* of the slowest; so are status and plan */
    int status;
    size_t link_size, query_size, plan_size;
    char link[LINK_BYTES], query[QUERY_BYTES], plan[PLAN_BYTES];
};

struct slow {
    pthread_mutex_t mutex;
    struct slow_row row[ROWS];
};

struct slow *slow_open(void)
{
    struct slow *slow = heap_allocate(sizeof(*slow));

    pthread_mutex_init(&slow->mutex, NULL);
    return slow;
}

void slow_close(struct slow *slow)
{
    if (!slow)
        return;
    pthread_mutex_destroy(&slow->mutex);
    free(slow);
}

size_t slow_bytes(void)
{
    return sizeof(struct slow);
}

/* --- notes --- */

/* Of the items of a container, only the container: dbs/d/colls/c/docs/1 is as slow as dbs/d/colls/c/docs/2. */
static struct slice container_of(struct slice link)
{
    size_t slashes = 0;

    for (size_t i = 0; i < link.size; i++)
        if (link.data[i] == '/' && ++slashes == 4)
            return slice_make(link.data, i);
    return link;
}

static void hash_text(struct murmur3 *hash, struct slice text)
{
    murmur3_add(hash, &text.size, sizeof(text.size));
    if (text.size)
        murmur3_add(hash, text.data, text.size);
}

static struct hash128 hash_of(const struct observed *seen, struct slice link)
{
    struct murmur3 hash = { 0 };

    hash_text(&hash, slice_of(seen->operation));
    hash_text(&hash, link);
    hash_text(&hash, seen->reply->query);
    return murmur3_end(&hash);
}

static bool goes_before(const struct slow_row *row, const struct slow_row *other)
{
    if (!row->operation || !other->operation)
        return other->operation;
    return row->last_ms < other->last_ms;
}

/* The row of that hash; else a free one, or the one that was seen longest ago, which is emptied. */
static struct slow_row *row_for(struct slow *slow, struct hash128 hash)
{
    struct slow_row *oldest = &slow->row[0];

    for (size_t i = 0; i < ROWS; i++) {
        struct slow_row *row = &slow->row[i];

        if (row->operation && row->hash.h1 == hash.h1 && row->hash.h2 == hash.h2)
            return row;
        if (goes_before(row, oldest))
            oldest = row;
    }
    *oldest = (struct slow_row){ .hash = hash };
    return oldest;
}

static size_t copy(char *to, size_t room, struct slice text)
{
    size_t size = text.size < room ? text.size : room;

    if (size)
        memcpy(to, text.data, size);
    return size;
}

static void note_worst(struct slow_row *row, const struct observed *seen)
{
    struct slice plan = seen->reply->plan;

    row->worst_us = (uint64_t)seen->took_us;
    row->charge = seen->charge;
    row->status = seen->answer->status;
    row->plan_size =
        plan.size <= PLAN_BYTES ? copy(row->plan, PLAN_BYTES, plan) : 0; /* half of one is no JSON */
}

void slow_note(struct slow *slow, struct op *op, const struct observed *seen)
{
    struct slice link = container_of(seen->link);
    struct hash128 hash = hash_of(seen, link);
    int64_t now_ms = env_now_ms(op->env);
    struct slow_row *row;

    assert(seen->took_us >= 0);
    pthread_mutex_lock(&slow->mutex);
    row = row_for(slow, hash);
    if (!row->operation) {
        row->operation = seen->operation;
        row->link_size = copy(row->link, LINK_BYTES, link);
        row->query_size = copy(row->query, QUERY_BYTES, seen->reply->query);
    }
    row->count++;
    row->total_us += (uint64_t)seen->took_us;
    row->last_ms = now_ms;
    if ((uint64_t)seen->took_us >= row->worst_us)
        note_worst(row, seen);
    pthread_mutex_unlock(&slow->mutex);
}

/* --- print --- */

static void print_text(struct buf *out, const char *name, const char *text, size_t size)
{
    size_t room = (size + 1) * QUOTED_BYTES_MAX;
    char *to;

    buf_printf(out, ",\"%s\":\"", name);
    to = buf_reserve(out, room);
    if (to)
        out->size += quoted_write(to, room, slice_make(text, size));
    buf_byte(out, '"');
}

static void print_row(struct buf *out, const struct slow_row *row)
{
    buf_printf(out,
               "{\"operation\":\"%s\",\"count\":%llu,\"milliseconds\":%.3f,\"totalMilliseconds\":%.3f,"
               "\"last\":%lld,\"charge\":%.2f,\"status\":%d",
               row->operation, (unsigned long long)row->count, (double)row->worst_us / 1000,
               (double)row->total_us / 1000, (long long)row->last_ms, row->charge, row->status);
    print_text(out, "link", row->link, row->link_size);
    if (row->query_size)
        print_text(out, "query", row->query, row->query_size);
    if (row->plan_size) {
        buf_text(out, ",\"plan\":"); /* it is JSON */
        buf_append(out, row->plan, row->plan_size);
    }
    buf_byte(out, '}');
}

static int slowest_first(const void *a, const void *b)
{
    const struct slow_row *first = *(const struct slow_row *const *)a,
                          *second = *(const struct slow_row *const *)b;

    return (first->worst_us < second->worst_us) - (first->worst_us > second->worst_us);
}

void slow_print(struct slow *slow, int64_t from_ms, struct buf *out)
{
    const struct slow_row *rows[ROWS];
    size_t count = 0;

    pthread_mutex_lock(&slow->mutex);
    for (size_t i = 0; i < ROWS; i++)
        if (slow->row[i].operation && slow->row[i].last_ms >= from_ms)
            rows[count++] = &slow->row[i];
    qsort(rows, count, sizeof(rows[0]), slowest_first);
    buf_byte(out, '[');
    for (size_t i = 0; i < count; i++) {
        buf_text(out, i ? "," : "");
        print_row(out, rows[i]);
    }
    buf_byte(out, ']');
    pthread_mutex_unlock(&slow->mutex);
}
