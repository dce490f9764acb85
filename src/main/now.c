/* src/main/now.c - two rings, how they are filled, and how they are told. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "base/heap.h"
#include "base/limits.h"
#include "main/now.h"

enum {
    SAMPLE_MS = 5000,
    SAMPLES = 720, /* an hour */
    MINUTE_MS = 60 * 1000,
    MINUTES = 60,
    CONTAINERS = 8, /* of a sample: those that spent most */
    KEYS = 12,      /* of a minute: the hottest */
    RANGES = 12,
};

struct spent_units {
    struct rid container;
    uint64_t hundredths; /* of request units */
};

struct sample {
    int64_t at_ms; /* since 1970 */
    struct request_totals requests;
    uint64_t memory_bytes;
    uint64_t figure[STATISTICS_MAX];
    size_t spent_count;
    struct spent_units spent[CONTAINERS]; /* since the sample before, the most first */
};

struct hot {
    struct rid container;
    uint32_t range;
    uint64_t hundredths, error;
    size_t key_size, whole_size; /* of the text that is kept, and of the whole key's */
    char key[HEAT_KEY_BYTES];
};

struct minute {
    int64_t at_ms;
    size_t key_count, range_count;
    struct hot key[KEYS], range[RANGES];
};

/* What containers had spent by the last sample. `is_all`: there were no others. */
struct spending {
    size_t count;
    bool is_all;
    struct spent_units of[METRIC_CONTAINERS_MAX];
};

struct now {
    pthread_mutex_t mutex;
    struct env *env;
    struct claim claim;
    struct heat *heat;
    struct heat_sums sums; /* of the minute that has begun */
    int64_t minute_began_ms, sampled_ms;
    uint64_t sample_count, minute_count; /* ever; the last of them are in the rings */
    struct spending spending;
    struct sample sample[SAMPLES];
    struct minute minute[MINUTES];
};

struct now *now_open(struct env *env, struct account *account)
{
    struct now *now;
    struct heat *heat = heat_open(env);

    if (!heat)
        return NULL;
    now = heap_allocate(sizeof(*now));
    pthread_mutex_init(&now->mutex, NULL);
    now->env = env;
    now->heat = heat;
    now->sums = heat_sums_new(heat);
    now->minute_began_ms = env_now_ms(env);
    now->spending.is_all = true;
    now->claim = (struct claim){ .account = account, .holder = HOLDER_FIGURES };
    claim_anyway(&now->claim, sizeof(*now) + heat_bytes() + heat_sums_bytes() + slow_bytes());
    return now;
}

void now_close(struct now *now)
{
    if (!now)
        return;
    claim_less(&now->claim, now->claim.bytes);
    heat_sums_free(&now->sums);
    heat_close(now->heat);
    pthread_mutex_destroy(&now->mutex);
    free(now);
}

struct heat *now_heat(struct now *now)
{
    return now->heat;
}

/* --- a sample --- */

static void read_spending(struct catalog *catalog, struct spending *spending)
{
    struct container *list[METRIC_CONTAINERS_MAX];

    spending->count = catalog_list_spending(catalog, list, METRIC_CONTAINERS_MAX);
    spending->is_all = spending->count < METRIC_CONTAINERS_MAX;
    for (size_t i = 0; i < spending->count; i++) {
        spending->of[i] = (struct spent_units){ list[i]->rid, meter_spent(list[i]->meter) };
        container_release(list[i]);
    }
}

/*
 * What it had spent by then. Of one that was not among the many that spent most nothing is known, so nothing is told.
 * A restored snapshot's meters begin anew.
 */
static uint64_t spent_before(const struct spending *before, const struct spent_units *now)
{
    for (size_t i = 0; i < before->count; i++)
        if (rid_equal(&before->of[i].container, &now->container))
            return before->of[i].hundredths <= now->hundredths ? before->of[i].hundredths : 0;
    return before->is_all ? 0 : now->hundredths;
}

/* Puts it in its place among those that spent most, as far as there is room. */
static void add_spent(struct sample *sample, const struct spent_units *spent)
{
    size_t at = sample->spent_count;

    while (at > 0 && sample->spent[at - 1].hundredths < spent->hundredths)
        at--;
    if (at == CONTAINERS)
        return;
    if (sample->spent_count < CONTAINERS)
        sample->spent_count++;
    memmove(sample->spent + at + 1, sample->spent + at, (sample->spent_count - 1 - at) * sizeof(*spent));
    sample->spent[at] = *spent;
}

static void compare_spending(const struct spending *before, const struct spending *after,
                             struct sample *sample)
{
    for (size_t i = 0; i < after->count; i++) {
        struct spent_units grown = after->of[i];

        grown.hundredths -= spent_before(before, &grown);
        if (grown.hundredths)
            add_spent(sample, &grown);
    }
}

/* How many figures it has. */
static size_t take_sample(const struct now *now, const struct now_sources *sources, struct sample *sample,
                          struct spending *after)
{
    const struct account *account = sources->statistics.account;
    size_t figures;

    memset(sample, 0, sizeof(*sample));
    sample->at_ms = env_now_ms(now->env);
    sample->memory_bytes = atomic_load_explicit(&account->used_bytes, memory_order_relaxed);
    figures = statistics_read(&sources->statistics, sample->figure);
    route_totals(sources->router, &sample->requests);
    read_spending(sources->statistics.catalog, after);
    compare_spending(&now->spending, after, sample);
    return figures;
}

/* --- a minute --- */

static struct hot hot_of(const struct sketch_row *row, const struct heat_place *place)
{
    struct hot hot = { .container = place->container,
                       .range = place->range,
                       .hundredths = row->count,
                       .error = row->error,
                       .key_size = place->key.size < HEAT_KEY_BYTES ? place->key.size : HEAT_KEY_BYTES,
                       .whole_size = row->size - RID_CONTAINER_BYTES };

    if (hot.key_size)
        memcpy(hot.key, place->key.data, hot.key_size);
    return hot;
}

static void sum_minute(const struct now *now, struct minute *minute)
{
    struct sketch_row key[KEYS], range[RANGES];

    *minute = (struct minute){ .at_ms = now->minute_began_ms,
                               .key_count = sketch_top(now->sums.keys, key, KEYS),
                               .range_count = sketch_top(now->sums.ranges, range, RANGES) };
    for (size_t i = 0; i < minute->key_count; i++) {
        struct heat_place place = heat_key_of(&key[i]);

        minute->key[i] = hot_of(&key[i], &place);
    }
    for (size_t i = 0; i < minute->range_count; i++) {
        struct heat_place place = heat_range_of(&range[i]);

        minute->range[i] = hot_of(&range[i], &place);
    }
}

static void end_minute(struct now *now, int64_t now_ms)
{
    sum_minute(now, &now->minute[now->minute_count++ % MINUTES]);
    sketch_clear(now->sums.keys);
    sketch_clear(now->sums.ranges);
    now->minute_began_ms = now_ms;
}

void now_sample(struct now *now, const struct now_sources *sources)
{
    int64_t monotonic_ms = env_monotonic_ms(now->env), now_ms = env_now_ms(now->env);
    struct spending after;

    pthread_mutex_lock(&now->mutex);
    if (now->sample_count && monotonic_ms - now->sampled_ms < SAMPLE_MS) {
        pthread_mutex_unlock(&now->mutex);
        return;
    }
    now->sampled_ms = monotonic_ms;
    take_sample(now, sources, &now->sample[now->sample_count++ % SAMPLES], &after);
    now->spending = after;
    heat_gather(now->heat, &now->sums);
    if (now_ms - now->minute_began_ms >= MINUTE_MS || now_ms < now->minute_began_ms)
        end_minute(now, now_ms);
    pthread_mutex_unlock(&now->mutex);
}

/* --- print --- */

/* The containers that the answer names, each once. */
struct names {
    struct rid rid[1024];
    size_t count;
};

static size_t name_of(struct names *names, const struct rid *rid)
{
    enum { ROOM = sizeof(names->rid) / sizeof(names->rid[0]) };

    for (size_t i = 0; i < names->count; i++)
        if (rid_equal(&names->rid[i], rid))
            return i;
    if (names->count == ROOM) /* more containers than that in an hour: the last name stands for all others */
        return ROOM - 1;
    names->rid[names->count] = *rid;
    return names->count++;
}

/* A container that is gone has no name: null. */
static void print_names(struct buf *out, const struct names *names, struct catalog *catalog)
{
    buf_text(out, "\"containers\":[");
    for (size_t i = 0; i < names->count; i++) {
        struct container *container = catalog_find_by_rid(catalog, &names->rid[i]);

        buf_text(out, i ? "," : "");
        if (container)
            json_print_string(out, container->link);
        else
            buf_text(out, "null");
        container_release(container);
    }
    buf_byte(out, ']');
}

static void print_numbers(struct buf *out, const char *name, const uint64_t *number, size_t count)
{
    buf_printf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_byte(out, ',');
        buf_u64(out, number[i]);
    }
    buf_byte(out, ']');
}

static void print_sample(struct buf *out, const struct sample *sample, size_t figures, struct names *names)
{
    const struct request_totals *requests = &sample->requests;

    buf_printf(out, "{\"at\":%lld,\"microseconds\":%llu,\"memory\":%llu", (long long)sample->at_ms,
               (unsigned long long)requests->time_us, (unsigned long long)sample->memory_bytes);
    print_numbers(out, "answers", requests->by_class + 1, 5);
    print_numbers(out, "retries", requests->retry, 2);
    print_numbers(out, "times", requests->time, METRIC_TIMES + 1);
    print_numbers(out, "figures", sample->figure, figures);
    buf_text(out, ",\"units\":[");
    for (size_t i = 0; i < sample->spent_count; i++)
        buf_printf(out, "%s[%zu,%.2f]", i ? "," : "", name_of(names, &sample->spent[i].container),
                   (double)sample->spent[i].hundredths / 100);
    buf_text(out, "]}");
}

static void print_hot(struct buf *out, const struct hot *hot, bool is_key, struct names *names)
{
    size_t room;
    char *to;

    buf_printf(out, "{\"container\":%zu,\"units\":%.2f,\"error\":%.2f,", name_of(names, &hot->container),
               (double)hot->hundredths / 100, (double)hot->error / 100);
    if (!is_key) {
        buf_printf(out, "\"range\":\"%u\"}", (unsigned)hot->range);
        return;
    }
    buf_text(out, "\"key\":\"");
    room = (hot->key_size + 1) * QUOTED_BYTES_MAX;
    to = buf_reserve(out, room);
    if (to)
        out->size += quoted_write(to, room, slice_make(hot->key, hot->key_size));
    buf_printf(out, "\"%s}", hot->whole_size > hot->key_size ? ",\"isCut\":true" : "");
}

static void print_minute(struct buf *out, const struct minute *minute, struct names *names)
{
    buf_printf(out, "{\"at\":%lld,\"keys\":[", (long long)minute->at_ms);
    for (size_t i = 0; i < minute->key_count; i++) {
        buf_text(out, i ? "," : "");
        print_hot(out, &minute->key[i], true, names);
    }
    buf_text(out, "],\"ranges\":[");
    for (size_t i = 0; i < minute->range_count; i++) {
        buf_text(out, i ? "," : "");
        print_hot(out, &minute->range[i], false, names);
    }
    buf_text(out, "]}");
}

static uint64_t first_kept(uint64_t count, uint64_t room)
{
    return count > room ? count - room : 0;
}

/* The samples that are wanted, and behind them the one of this moment, which the ring does not have. */
static void print_samples(struct buf *out, const struct now *now, const struct now_sources *sources,
                          uint64_t since, struct names *names)
{
    uint64_t first = first_kept(now->sample_count, SAMPLES);
    struct spending after;
    struct sample last;
    size_t figures = take_sample(now, sources, &last, &after);

    buf_text(out, "\"figures\":[");
    for (size_t i = 0; i < figures; i++)
        buf_printf(out, "%s\"%s\"", i ? "," : "", statistics_name(i));
    buf_text(out, "],\"samples\":[");
    for (uint64_t i = since > first ? since : first; i < now->sample_count; i++) {
        print_sample(out, &now->sample[i % SAMPLES], figures, names);
        buf_byte(out, ',');
    }
    print_sample(out, &last, figures, names);
    buf_byte(out, ']');
}

static void print_minutes(struct buf *out, struct now *now, struct names *names)
{
    struct minute begun;

    buf_text(out, "\"minutes\":[");
    for (uint64_t i = first_kept(now->minute_count, MINUTES); i < now->minute_count; i++) {
        print_minute(out, &now->minute[i % MINUTES], names);
        buf_byte(out, ',');
    }
    heat_gather(now->heat, &now->sums);
    sum_minute(now, &begun);
    print_minute(out, &begun, names);
    buf_byte(out, ']');
}

void now_print(struct now *now, struct op *op, const struct now_sources *sources, uint64_t since,
               struct buf *out)
{
    struct names *names = arena_alloc(&op->arena, sizeof(*names));

    names->count = 0;
    pthread_mutex_lock(&now->mutex);
    buf_printf(out, "\"sampleMilliseconds\":%d,\"next\":%llu", SAMPLE_MS,
               (unsigned long long)now->sample_count);
    print_numbers(out, "boundsMicroseconds", metric_bound_us, METRIC_TIMES);
    buf_byte(out, ',');
    print_samples(out, now, sources, since, names);
    buf_byte(out, ',');
    print_minutes(out, now, names);
    pthread_mutex_unlock(&now->mutex);
    buf_byte(out, ',');
    print_names(out, names, sources->statistics.catalog);
    buf_text(out, ",\"slow\":");
    slow_print(sources->slow, env_now_ms(now->env) - (int64_t)SAMPLES * SAMPLE_MS, out);
}
