/*
 * client/aggregate.c - COUNT and its like over what each range has counted, and GROUP BY.
 * Each range gives its part of an aggregate: {"item": ...}. A part of MIN or MAX also says how many values it took. A part
 * that took none is passed over. A part whose value is undefined makes the whole undefined, as it does on the server.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "query.h"

struct cell {
    struct json value;    /* the first, the least, the greatest */
    int64_t count, whole; /* whole: the sum while all parts are integers */
    double sum, rest;     /* rest: what rounding took from the sum */
    bool is_double, undefined, begun;
    struct json *list; /* arrays, to be joined */
    size_t list_count, list_capacity;
};

struct group {
    uint64_t hash;   /* places it; others may know how to make two of one */
    struct json key; /* the cursor's own copy; undefined where there is no GROUP BY */
    struct cell *cells;
};

struct groups {
    struct group *group;
    size_t count, capacity, next;
    size_t *table;     /* number + 1, by hash */
    size_t table_size; /* twice the capacity, and so a power of two */
};

void groups_free(struct groups *groups)
{
    if (!groups)
        return;
    allocator_free(groups->group);
    allocator_free(groups->table);
    allocator_free(groups);
}

/* ---- which group */

static void place(struct groups *groups, size_t number)
{
    size_t at = groups->group[number].hash & (groups->table_size - 1);

    assert(number < groups->table_size / 2);
    while (groups->table[at])
        at = (at + 1) & (groups->table_size - 1);
    groups->table[at] = number + 1;
}

/* At most half full: whoever looks for a key that is not there meets a free place. */
static bool make_table(struct groups *groups, size_t size)
{
    size_t *table = allocator_zeroed(size, sizeof(*table));

    if (!table)
        return false;
    allocator_free(groups->table);
    groups->table = table;
    groups->table_size = size;
    for (size_t i = 0; i < groups->count; i++)
        place(groups, i);
    return true;
}

static bool make_room(struct groups *groups)
{
    if (!memory_grow(&groups->group, &groups->capacity, groups->count + 1, sizeof(*groups->group)))
        return false;
    return groups->table_size == 2 * groups->capacity || make_table(groups, 2 * groups->capacity);
}

static bool is_key(const struct group *group, uint64_t hash, struct json key)
{
    return group->hash == hash && (key.at ? group->key.at && json_equal(group->key, key) : !group->key.at);
}

static struct group *find(struct groups *groups, uint64_t hash, struct json key)
{
    size_t mask = groups->table_size - 1;

    for (size_t at = hash & mask; groups->table_size && groups->table[at]; at = (at + 1) & mask) {
        struct group *group = &groups->group[groups->table[at] - 1];

        if (is_key(group, hash, key))
            return group;
    }
    return NULL;
}

/* A value of a page, which is given back: the cursor's own copy. */
static bool keep(orrery_query *query, struct json value, struct json *kept)
{
    struct slice bytes = value.at ? json_bytes(value) : slice_make(NULL, 0);
    char *copy = value.at ? arena_try_alloc(&query->arena, bytes.size) : NULL;

    *kept = json_undefined;
    if (value.at && !copy)
        return false;
    if (copy)
        memcpy(copy, bytes.data, bytes.size);
    kept->at = (const uint8_t *)copy;
    return true;
}

static struct group *find_or_add(orrery_query *query, struct json key)
{
    struct groups *groups = query->groups;
    uint64_t hash = key.at ? json_hash(key).h1 : 0;
    struct group *group = find(groups, hash, key);
    size_t columns = query->plan.column_count;

    if (group)
        return group;
    if (!make_room(groups))
        return NULL;
    group = &groups->group[groups->count];
    *group =
        (struct group){ .hash = hash, .cells = memory_list(&query->arena, columns, sizeof(struct cell)) };
    if (!group->cells || !keep(query, key, &group->key))
        return NULL;
    memset(group->cells, 0, columns * sizeof(struct cell));
    place(groups, groups->count++);
    return group;
}

/* ---- parts of an aggregate */

/* So that the order in which ranges answer, and how many there are, changes nothing but a last bit, and mostly not that. */
static void add_double(struct cell *cell, double part)
{
    double sum = cell->sum + part, taken = sum - cell->sum;

    if (isfinite(sum))
        cell->rest += (cell->sum - (sum - taken)) + (part - taken);
    cell->sum = sum;
}

static double sum_of(const struct cell *cell)
{
    return cell->is_double ? cell->sum + cell->rest : (double)cell->whole;
}

static void add_number(struct cell *cell, struct json number)
{
    int64_t whole;

    if (json_kind(number) != JSON_NUMBER) {
        cell->undefined = true;
        return;
    }
    add_double(cell, json_double(number));
    if (!json_is_int(number) || __builtin_add_overflow(cell->whole, json_int(number), &whole))
        cell->is_double = true;
    else
        cell->whole = whole;
}

static int64_t count_of(struct json count)
{
    return json_kind(count) == JSON_NUMBER ? (int64_t)json_double(count) : 0;
}

static bool add_extreme(orrery_query *query, struct cell *cell, struct json part, bool is_min)
{
    struct json found = json_get(part, "item2"), value = json_get(found, is_min ? "min" : "max");
    int order;

    if (count_of(json_get(found, "count")) == 0 || cell->undefined)
        return true;
    cell->count++;
    if (!value.at) {
        cell->undefined = true;
        return true;
    }
    order = cell->value.at ? json_compare(value, cell->value) : 0;
    if (cell->value.at && (is_min ? order >= 0 : order <= 0))
        return true;
    return keep(query, value, &cell->value);
}

static void add_average(struct cell *cell, struct json part)
{
    struct json item = json_get(part, "item");

    cell->count += count_of(json_get(item, "count"));
    add_number(cell, json_get(item, "sum"));
}

static bool add_list(orrery_query *query, struct cell *cell, struct json part)
{
    struct json list = json_get(part, "item");

    if (json_kind(list) != JSON_ARRAY) {
        cell->undefined = true;
        return true;
    }
    if (!memory_grow_in(&query->arena, &cell->list, &cell->list_capacity, cell->list_count + 1,
                        sizeof(*cell->list)))
        return false;
    return keep(query, list, &cell->list[cell->list_count++]);
}

static bool add_part(orrery_query *query, struct cell *cell, enum aggregate_kind kind, struct json part)
{
    bool first = !cell->begun;

    cell->begun = true;
    switch (kind) {
    case AGGREGATE_NONE:
        return !first || keep(query, part, &cell->value);
    case AGGREGATE_COUNT:
    case AGGREGATE_SUM:
        add_number(cell, json_get(part, "item"));
        return true;
    case AGGREGATE_AVERAGE:
        add_average(cell, part);
        return true;
    case AGGREGATE_MIN:
    case AGGREGATE_MAX:
        return add_extreme(query, cell, part, kind == AGGREGATE_MIN);
    default:
        return add_list(query, cell, part);
    }
}

/* Where a column's part lies in a row. */
static struct json part_of(const struct plan *plan, const struct column *column, struct json row)
{
    struct json payload = json_kind(row) == JSON_OBJECT ? json_get(row, "payload") : row;

    if (column->alias.size > 0)
        return json_member(payload, column->alias);
    return column->kind == AGGREGATE_NONE || !plan->has_value ? payload : json_element(payload, 0);
}

orrery_status groups_add(orrery_query *query, struct json row)
{
    struct group *group;

    if (!query->groups)
        query->groups = allocator_zeroed(1, sizeof(*query->groups));
    group = query->groups ? find_or_add(query, json_get(row, "groupByItems")) : NULL;
    if (!group)
        return client_no_memory(query->client);
    for (size_t i = 0; i < query->plan.column_count; i++) {
        const struct column *column = &query->plan.columns[i];

        if (!add_part(query, &group->cells[i], column->kind, part_of(&query->plan, column, row)))
            return client_no_memory(query->client);
    }
    return ORRERY_OK;
}

/* ---- the whole of an aggregate */

static bool has_value(const struct cell *cell, enum aggregate_kind kind)
{
    if (cell->undefined)
        return false;
    if (kind == AGGREGATE_AVERAGE)
        return cell->count > 0;
    return kind == AGGREGATE_NONE || kind == AGGREGATE_MIN || kind == AGGREGATE_MAX ? cell->value.at != NULL
                                                                                    : true;
}

/* The parts of a list may come in any order. Of a set, what another range has told already is left out. */
static void build_list(struct json_builder *builder, const struct cell *cell, bool is_set)
{
    json_begin_array(builder);
    for (size_t i = 0; i < cell->list_count; i++)
        for (struct json_iter item = json_iter(cell->list[i]); json_next(&item);) {
            bool told = false;

            for (size_t j = 0; is_set && j < i && !told; j++)
                for (struct json_iter other = json_iter(cell->list[j]); !told && json_next(&other);)
                    told = json_equal(item.value, other.value);
            if (!told)
                json_add(builder, item.value);
        }
    json_end(builder);
}

static void build_cell(struct json_builder *builder, const struct cell *cell, enum aggregate_kind kind)
{
    switch (kind) {
    case AGGREGATE_COUNT:
    case AGGREGATE_SUM:
        if (cell->is_double)
            json_add_double(builder, isfinite(cell->sum) ? sum_of(cell) : 0);
        else
            json_add_int(builder, cell->whole);
        return;
    case AGGREGATE_AVERAGE:
        json_add_double(builder, isfinite(cell->sum) ? sum_of(cell) / (double)cell->count : 0);
        return;
    case AGGREGATE_LIST:
    case AGGREGATE_SET:
        build_list(builder, cell, kind == AGGREGATE_SET);
        return;
    default:
        json_add(builder, cell->value);
    }
}

static struct json build_row(orrery_query *query, const struct group *group)
{
    const struct plan *plan = &query->plan;
    struct json_builder builder;

    json_builder_init(&builder, &query->arena);
    if (plan->columns[0].alias.size == 0) {
        if (!has_value(&group->cells[0], plan->columns[0].kind))
            return json_undefined;
        build_cell(&builder, &group->cells[0], plan->columns[0].kind);
        return json_built(&builder);
    }
    json_begin_object(&builder);
    for (size_t i = 0; i < plan->column_count; i++) {
        if (!has_value(&group->cells[i], plan->columns[i].kind))
            continue;
        json_add_name(&builder, plan->columns[i].alias);
        build_cell(&builder, &group->cells[i], plan->columns[i].kind);
    }
    json_end(&builder);
    return json_built(&builder);
}

orrery_status groups_next(orrery_query *query, struct json *row)
{
    struct groups *groups = query->groups;

    if (!groups || groups->next == groups->count)
        return ORRERY_DONE;
    *row = build_row(query, &groups->group[groups->next++]); /* undefined: it is passed over */
    return ORRERY_ROW;
}
