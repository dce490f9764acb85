/* test/unit/packed/packed_world.c - random commits, and a reader that knows the answer. */
#include <stdlib.h>

#include "keys/bytes.h"
#include "keys/keys.h"
#include "packed_world.h"
#include "test.h"

uint64_t world_random(uint64_t below)
{
    return test_random() % below;
}

uint64_t world_bucket(size_t bucket)
{
    return bucket_make(7 + bucket, 0);
}

/* Paths whose ids are neighbours, and values that share their beginnings: some long, some short. */
static size_t put_term(uint8_t *to, size_t path, size_t value)
{
    static const char *const front[] = { "a", "abcdefgh-same-for-many-", "b" };
    const char *text = front[value % 3];
    char digits[16];
    size_t size = 0;

    put_be(to, 0x11ffffffffffffffu + path, 8);
    size = 8;
    to[size++] = 6;
    for (; *text; text++)
        to[size++] = (uint8_t)(*text + 1);
    snprintf(digits, sizeof(digits), "%03zu", value);
    for (size_t i = 0; digits[i]; i++)
        to[size++] = (uint8_t)(digits[i] + 1);
    to[size++] = 0;
    return size;
}

/* Values in the order of their terms. */
static size_t value_at(size_t rank)
{
    for (size_t family = 0; family < 3; family++) {
        size_t count = (WORLD_VALUES - family + 2) / 3;

        if (rank < count)
            return family + 3 * rank;
        rank -= count;
    }
    abort();
}

/* Numbers far apart, as those of different partitions are. */
static uint64_t number_of(size_t number)
{
    return (uint64_t)(number / 10) << 40 | (number % 10 + 1);
}

static struct slice key_into(uint8_t *to, size_t bucket, size_t path, size_t value)
{
    put_be(to, world_bucket(bucket), 6);
    to[6] = KEY_INDEX;
    return slice_make(to, 7 + put_term(to + 7, path, value));
}

/* ---- life ---- */

struct world *world_new(struct op *op, struct backend *backend, const struct packed_options *options)
{
    struct world *world = calloc(1, sizeof(*world));

    world->op = op;
    world->backend = backend;
    world->options = *options;
    world_open(world);
    return world;
}

void world_open(struct world *world)
{
    if (packed_open(world->op, world->backend->runs, &world->options, &world->packed) != ST_OK)
        abort();
}

static void unpin(struct world *world, struct world_view *view)
{
    if (view->pin)
        packed_unpin(world->packed, view->pin);
    view->pin = NULL;
}

void world_close(struct world *world)
{
    for (size_t i = 0; i < WORLD_VIEWS; i++)
        unpin(world, &world->view[i]);
    packed_close(world->packed);
}

void world_free(struct world *world)
{
    world_close(world);
    world_forget(world);
}

void world_forget(struct world *world)
{
    for (size_t i = 0; i < WORLD_BUCKETS; i++)
        for (size_t lsn = 0; lsn < WORLD_LSNS; lsn++)
            free(world->past[i][lsn]);
    free(world);
}

/* ---- commits ---- */

enum { CHANGES_MAX = 200, KEY_ROOM = 64, PATH_END = 7 + 8 };

struct change_list {
    struct packed_entry entry[CHANGES_MAX];
    uint8_t key[CHANGES_MAX][KEY_ROOM];
    bool *flag[CHANGES_MAX];
    size_t count;
};

static bool is_listed(const struct change_list *list, const bool *flag)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->flag[i] == flag)
            return true;
    return false;
}

static void draw_change(struct world *world, size_t bucket, struct change_list *list)
{
    size_t path = world_random(WORLD_PATHS), number = world_random(WORLD_NUMBERS);
    size_t value = world_random(4) ? world_random(WORLD_VALUES) : 7; /* one has many numbers */
    bool *flag = &world->now[bucket].has[path][value][number];
    struct packed_entry *entry = &list->entry[list->count];
    uint8_t *bytes = list->key[list->count];

    if (is_listed(list, flag))
        return;
    entry->key = key_into(bytes, bucket, path, value);
    put_be(bytes + entry->key.size, number_of(number), 8);
    entry->key.size += 8;
    entry->present = !*flag;
    list->flag[list->count++] = flag;
}

static bool append(struct world *world, size_t bucket, size_t changes, struct change_list *list)
{
    list->count = 0;
    for (size_t i = 0; i < changes && i < CHANGES_MAX; i++)
        draw_change(world, bucket, list);
    return packed_append(world->op, world->packed, world_bucket(bucket), world->lsn[bucket] + 1, list->entry,
                         list->count) == ST_OK;
}

static void remember(struct world *world, size_t bucket)
{
    struct table **past = &world->past[bucket][world->lsn[bucket]];

    if (!*past)
        *past = malloc(sizeof(**past));
    **past = world->now[bucket];
}

bool world_commit(struct world *world, size_t bucket, size_t changes)
{
    struct change_list *list = malloc(sizeof(*list));
    bool taken = !world->dropped[bucket] && append(world, bucket, changes, list);

    if (taken) {
        world->lsn[bucket]++;
        for (size_t i = 0; i < list->count; i++)
            *list->flag[i] = !*list->flag[i];
        remember(world, bucket);
        packed_committed(world->packed);
    }
    free(list);
    return taken;
}

void world_begin_commit(struct world *world, size_t bucket, size_t changes)
{
    struct change_list *list = malloc(sizeof(*list));

    if (!world->dropped[bucket])
        append(world, bucket, changes, list);
    free(list);
}

void world_lose(struct world *world, size_t bucket, size_t changes)
{
    world_begin_commit(world, bucket, changes);
    packed_forget(world->packed, world_bucket(bucket), world->lsn[bucket]);
    packed_committed(world->packed);
}

void world_drop(struct world *world, size_t bucket)
{
    struct op *op = world->op;
    uint64_t id = world_bucket(bucket);

    for (size_t i = 0; i < WORLD_VIEWS; i++)
        unpin(world, &world->view[i]);
    if (packed_drop(op, world->packed, id) != ST_OK ||
        world->backend->ops->remove_range(op, world->backend, key_bucket_first(&op->arena, id),
                                          key_bucket_end(&op->arena, id)) != ST_OK)
        abort();
    world->dropped[bucket] = true;
    world->now[bucket] = (struct table){ 0 };
}

void world_crash(struct world *world)
{
    world_close(world);
    world_open(world);
    world_recall(world);
}

void world_recall(struct world *world)
{
    for (size_t i = 0; i < WORLD_BUCKETS; i++) {
        if (packed_settled(world->op, world->packed, world_bucket(i), &world->lsn[i]) != ST_OK)
            abort();
        world->now[i] = world->past[i][world->lsn[i]] ? *world->past[i][world->lsn[i]] : (struct table){ 0 };
    }
}

/* ---- looking ---- */

void world_look(struct world *world, size_t which)
{
    struct world_view *view = &world->view[which];

    unpin(world, view);
    view->pin = packed_pin(world->packed);
    memcpy(view->table, world->now, sizeof(view->table));
    memcpy(view->lsn, world->lsn, sizeof(view->lsn));
}

struct walk_plan {
    size_t bucket, path;
    size_t from, to;    /* ranks of values: [from, to) */
    size_t first, last; /* numbers: [first, last] */
    bool reverse;
    bool to_path_end;
    bool one_term; /* up to the end of the term, and not to the next one: filters are asked */
    size_t seek_rank, seek_number, seek_after; /* after so many blocks; SIZE_MAX: never */
};

struct reader {
    struct world *world;
    struct packed_cursor *cursor;
    struct packed_block block;
    size_t at;
    size_t blocks;
};

static bool next_entry(struct reader *reader, struct slice *term, uint64_t *number)
{
    if (reader->at == reader->block.count) {
        reader->at = 0;
        reader->blocks++;
        if (reader->world->disturb)
            reader->world->disturb(reader->world);
        if (packed_cursor_next(reader->world->op, reader->cursor, &reader->block) != ST_OK)
            abort();
    }
    if (reader->block.count == 0)
        return false;
    *term = reader->block.term;
    *number = reader->block.number[reader->at++];
    return true;
}

static bool is_next(struct reader *reader, const struct walk_plan *plan, size_t value, size_t number)
{
    uint8_t term[KEY_ROOM];
    size_t size = put_term(term, plan->path, value);
    struct slice got_term;
    uint64_t got_number;

    return next_entry(reader, &got_term, &got_number) && slice_equal(got_term, slice_make(term, size)) &&
           got_number == number_of(number);
}

static bool seek_now(struct reader *reader, const struct walk_plan *plan)
{
    uint8_t term[KEY_ROOM];
    size_t size = put_term(term, plan->path, value_at(plan->seek_rank));

    reader->at = reader->block.count = 0;
    return packed_cursor_seek(reader->world->op, reader->cursor, slice_make(term, size),
                              number_of(plan->seek_number)) == ST_OK;
}

static bool is_before_seek(const struct walk_plan *plan, size_t rank, size_t number)
{
    if (rank != plan->seek_rank)
        return plan->reverse ? rank > plan->seek_rank : rank < plan->seek_rank;
    return plan->reverse ? number > plan->seek_number : number < plan->seek_number;
}

static bool follow(struct reader *reader, const struct walk_plan *plan, const struct table *table)
{
    size_t values = plan->to - plan->from, numbers = plan->last - plan->first + 1;
    bool sought = plan->seek_after == SIZE_MAX;
    struct slice term;
    uint64_t number;

    for (size_t i = 0; i < values; i++) {
        size_t rank = plan->reverse ? plan->to - 1 - i : plan->from + i, value = value_at(rank);

        for (size_t j = 0; j < numbers; j++) {
            size_t n = plan->reverse ? plan->last - j : plan->first + j;

            if (!table->has[plan->path][value][n])
                continue;
            if (!sought && reader->blocks >= plan->seek_after && reader->at == reader->block.count) {
                sought = true;
                if (!seek_now(reader, plan))
                    return false;
            }
            if (sought && plan->seek_after != SIZE_MAX && is_before_seek(plan, rank, n))
                continue;
            if (!is_next(reader, plan, value, n))
                return false;
        }
    }
    return !next_entry(reader, &term, &number);
}

static struct slice end_into(uint8_t *to, const struct walk_plan *plan)
{
    struct slice end;

    if (plan->to_path_end)
        return slice_make(key_into(to, plan->bucket, plan->path + 1, 0).data, PATH_END);
    end = key_into(to, plan->bucket, plan->path, value_at(plan->one_term ? plan->from : plan->to));
    to[end.size - 1] += plan->one_term; /* a string ends with 00 */
    return end;
}

static bool walk(struct world *world, const struct world_view *view, const struct walk_plan *plan)
{
    uint8_t from[KEY_ROOM], to[KEY_ROOM];
    struct packed_walk packed_walk = { .from = key_into(from, plan->bucket, plan->path, value_at(plan->from)),
                                       .to = end_into(to, plan),
                                       .first = number_of(plan->first),
                                       .last = number_of(plan->last),
                                       .lsn = view->lsn[plan->bucket],
                                       .reverse = plan->reverse };
    struct reader reader = { .world = world };
    bool same;

    if (packed_cursor_open(world->op, world->packed, view->pin, &packed_walk, &reader.cursor) != ST_OK)
        abort();
    same = follow(&reader, plan, &view->table[plan->bucket]);
    packed_cursor_end(reader.cursor);
    return same;
}

static bool count(struct world *world, const struct world_view *view, const struct walk_plan *plan)
{
    uint8_t from[KEY_ROOM], to[KEY_ROOM];
    struct slice end = end_into(to, plan);
    uint64_t expected = 0, got = 0;

    for (size_t rank = plan->from; rank < plan->to; rank++)
        for (size_t n = 0; n < WORLD_NUMBERS; n++)
            expected += view->table[plan->bucket].has[plan->path][value_at(rank)][n];
    if (packed_count(world->op, world->packed, view->pin,
                     key_into(from, plan->bucket, plan->path, value_at(plan->from)), end,
                     view->lsn[plan->bucket], &got) != ST_OK)
        abort();
    return got == expected;
}

static struct walk_plan draw_plan(void)
{
    struct walk_plan plan = { .bucket = world_random(WORLD_BUCKETS),
                              .path = world_random(WORLD_PATHS),
                              .from = world_random(WORLD_VALUES),
                              .last = WORLD_NUMBERS - 1,
                              .reverse = world_random(2),
                              .seek_after = SIZE_MAX };

    plan.to = world_random(2) ? plan.from + 1 : plan.from + 1 + world_random(WORLD_VALUES - plan.from);
    plan.to_path_end = plan.to == WORLD_VALUES;
    plan.one_term = plan.to == plan.from + 1 && !plan.to_path_end && world_random(2);
    if (world_random(3) == 0) {
        plan.first = world_random(WORLD_NUMBERS);
        plan.last = plan.first + world_random(WORLD_NUMBERS - plan.first);
    }
    if (world_random(3) == 0) {
        plan.seek_after = world_random(3);
        plan.seek_rank = plan.from + world_random(plan.to - plan.from);
        plan.seek_number = world_random(WORLD_NUMBERS);
    }
    return plan;
}

static bool check_plan(struct world *world, const struct world_view *view, const struct walk_plan *plan)
{
    bool same = walk(world, view, plan) && count(world, view, plan);

    if (!same)
        fprintf(
            stderr, "bucket %zu path %zu values [%zu,%zu) numbers [%zu,%zu]%s seek after %zd to %zu %zu\n",
            plan->bucket, plan->path, plan->from, plan->to, plan->first, plan->last,
            plan->reverse ? " reverse" : "", (ssize_t)plan->seek_after, plan->seek_rank, plan->seek_number);
    return same;
}

bool world_check(struct world *world, const struct world_view *view)
{
    struct walk_plan plan = draw_plan();

    return check_plan(world, view, &plan);
}

bool world_check_views(struct world *world)
{
    for (size_t i = 0; i < WORLD_VIEWS; i++)
        if (world->view[i].pin && !world_check(world, &world->view[i]))
            return false;
    return true;
}

/* All paths of a bucket in one walk. */
static bool walk_bucket(struct world *world, const struct world_view *view, size_t bucket, bool reverse)
{
    struct packed_walk packed_walk = { .from =
                                           key_kind_first(&world->op->arena, world_bucket(bucket), KEY_INDEX),
                                       .to = key_kind_end(&world->op->arena, world_bucket(bucket), KEY_INDEX),
                                       .last = UINT64_MAX,
                                       .lsn = view->lsn[bucket],
                                       .reverse = reverse };
    struct walk_plan plan = { .bucket = bucket, .reverse = reverse };
    struct reader reader = { .world = world };
    uint64_t expected = 0, got, number;
    struct slice term;
    bool same = true;

    if (packed_cursor_open(world->op, world->packed, view->pin, &packed_walk, &reader.cursor) != ST_OK)
        abort();
    for (size_t i = 0; i < WORLD_PATHS * WORLD_VALUES * WORLD_NUMBERS; i++) {
        size_t at = reverse ? WORLD_PATHS * WORLD_VALUES * WORLD_NUMBERS - 1 - i : i;
        size_t value = value_at(at / WORLD_NUMBERS % WORLD_VALUES), n = at % WORLD_NUMBERS;

        plan.path = at / WORLD_NUMBERS / WORLD_VALUES;
        if (!view->table[bucket].has[plan.path][value][n])
            continue;
        expected++;
        same = same && is_next(&reader, &plan, value, n);
    }
    same = same && !next_entry(&reader, &term, &number);
    packed_cursor_end(reader.cursor);
    if (packed_count(world->op, world->packed, view->pin, packed_walk.from, packed_walk.to, packed_walk.lsn,
                     &got) != ST_OK)
        abort();
    return same && got == expected;
}

bool world_check_all(struct world *world, const struct world_view *view)
{
    struct walk_plan plan = {
        .to = WORLD_VALUES, .to_path_end = true, .last = WORLD_NUMBERS - 1, .seek_after = SIZE_MAX
    };

    for (plan.bucket = 0; plan.bucket < WORLD_BUCKETS; plan.bucket++)
        for (plan.path = 0; plan.path < WORLD_PATHS; plan.path++)
            for (int reverse = 0; reverse < 2; reverse++) {
                plan.reverse = reverse;
                if (!check_plan(world, view, &plan))
                    return false;
            }
    for (size_t bucket = 0; bucket < WORLD_BUCKETS; bucket++)
        if (!walk_bucket(world, view, bucket, false) || !walk_bucket(world, view, bucket, true))
            return false;
    return true;
}
