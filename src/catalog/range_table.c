/*
 * src/catalog/range_table.c - a container's table of ranges, into its stored definition and out of it.
 *     "_ranges":{"version":3,"told_since":0,"next":4,"live":[[2,"",2,57,1700000000000,[0,2]],...]}
 * A range is written as its id, the key it begins with, version, LSN, time, and its ancestors: of each ancestor the
 * id and the first version of the table without it.
 */
#include <assert.h>

#include "base/encode.h"
#include "base/limits.h"
#include "catalog/ranges.h"

#define RANGES "_ranges"

/* ---- into the definition ---- */

static void add_number(struct json_builder *out, const char *name, uint64_t number)
{
    json_add_name(out, slice_of(name));
    json_add_int(out, (int64_t)number);
}

static void add_range(struct op *op, struct json_builder *out, const struct key_range *range)
{
    struct buf min;

    buf_init(&min, &op->arena);
    hex_encode_upper(&min, range->min);
    json_begin_array(out);
    json_add_int(out, range->id);
    json_add_string(out, buf_as_slice(&min));
    json_add_int(out, (int64_t)range->version);
    json_add_int(out, (int64_t)range->lsn);
    json_add_int(out, range->ts_ms);
    json_begin_array(out);
    for (uint32_t i = 0; i < range->ancestor_count; i++) {
        json_add_int(out, range->ancestor[i].id);
        json_add_int(out, (int64_t)range->ancestor[i].gone);
    }
    json_end(out);
    json_end(out);
}

struct json ranges_store(struct op *op, const struct range_table *table, struct json definition)
{
    struct json_builder out;

    assert(table->version > RANGES_FIRST_VERSION);
    assert(table->count > 0);
    assert(json_kind(json_get(definition, RANGES)) == JSON_UNDEFINED); /* reading it has taken it out */
    json_builder_init(&out, &op->arena);
    json_begin_object(&out);
    json_add_members(&out, definition, NULL);
    json_add_name(&out, slice_of(RANGES));
    json_begin_object(&out);
    add_number(&out, "version", table->version);
    add_number(&out, "told_since", table->told_since);
    add_number(&out, "next", table->next_id);
    json_add_name(&out, slice_of("live"));
    json_begin_array(&out);
    for (uint32_t i = 0; i < table->count; i++)
        add_range(op, &out, &table->range[i]);
    json_end(&out);
    json_end(&out);
    json_end(&out);
    return json_built(&out);
}

/* ---- out of it ---- */

static uint64_t next_number(struct json_iter *i)
{
    return json_next(i) ? (uint64_t)json_int(i->value) : 0;
}

static void read_ancestors(struct arena *memory, struct json list, struct key_range *range)
{
    struct range_ancestor *ancestor = arena_alloc(memory, (json_count(list) / 2 + 1) * sizeof(*ancestor));
    struct json_iter i = json_iter(list);

    range->ancestor = ancestor;
    while (range->ancestor_count < json_count(list) / 2) {
        uint32_t id = (uint32_t)next_number(&i);

        ancestor[range->ancestor_count++] = (struct range_ancestor){ id, next_number(&i) };
    }
}

static bool read_min(struct arena *memory, struct json_iter *i, struct slice *min)
{
    uint8_t bytes[EPK_BYTES_MAX];
    size_t size;

    if (!json_next(i) || json_kind(i->value) != JSON_STRING ||
        !hex_decode(json_string(i->value), bytes, sizeof(bytes), &size))
        return false;
    *min = arena_copy(memory, slice_make(bytes, size));
    return true;
}

static bool read_range(struct arena *memory, struct json from, struct key_range *range)
{
    struct json_iter i = json_iter(from);

    *range = (struct key_range){ .id = (uint32_t)next_number(&i) };
    if (!read_min(memory, &i, &range->min))
        return false;
    range->version = next_number(&i);
    range->lsn = next_number(&i);
    range->ts_ms = (int64_t)next_number(&i);
    if (!json_next(&i) || json_kind(i.value) != JSON_ARRAY)
        return false;
    read_ancestors(memory, i.value, range);
    return true;
}

static bool read_table(struct arena *memory, struct json stored, struct range_table *table)
{
    struct json live = json_get(stored, "live");
    size_t most = json_kind(live) == JSON_ARRAY ? json_count(live) : 0;
    struct key_range *range = arena_alloc(memory, (most + 1) * sizeof(*range));
    uint32_t *id = arena_alloc(memory, (most + 1) * sizeof(*id));

    *table = (struct range_table){ .next_id = (uint32_t)json_int(json_get(stored, "next")),
                                   .version = (uint64_t)json_int(json_get(stored, "version")),
                                   .told_since = (uint64_t)json_int(json_get(stored, "told_since")),
                                   .id = id,
                                   .range = range };
    if (most == 0)
        return false;
    for (struct json_iter i = json_iter(live); json_next(&i); table->count++) {
        if (!read_range(memory, i.value, &range[table->count]))
            return false;
        id[table->count] = range[table->count].id;
    }
    return true;
}

/* What the rest of the program relies on: the ranges tile all keys, and their ids are among those that were given out. */
static bool is_sound(const struct range_table *table)
{
    if (table->version <= RANGES_FIRST_VERSION || table->count > CONTAINER_RANGES_MAX ||
        table->range[0].min.size > 0)
        return false;
    for (uint32_t i = 0; i < table->count; i++)
        if (table->id[i] >= table->next_id ||
            (i > 0 && slice_compare(table->range[i - 1].min, table->range[i].min) >= 0))
            return false;
    return true;
}

/*
 * Containers of earlier versions of this program have no number there, and one range. So has one without a partition
 * key.
 */
static uint32_t count_of(const struct container *container, const struct record *record)
{
    uint32_t count = (uint32_t)record->number; /* above it is the number of buckets */

    return container->system_key || count == 0 ? 1 : count;
}

enum status ranges_read(struct op *op, struct container *container, const struct record *record)
{
    struct arena *memory = &container->memory;

    if (!(record->flags & RECORD_HAS_RANGES)) {
        ranges_make_equal(memory, container->epk_version, count_of(container, record), record->ts_ms,
                          &container->ranges);
        return ST_OK;
    }
    if (!read_table(memory, json_get(container->definition, RANGES), &container->ranges) ||
        !is_sound(&container->ranges))
        return op_fail(op, ST_CORRUPT, "the catalog has a container with a malformed table of ranges");
    container->definition = json_without(memory, container->definition, RANGES);
    container->id = json_string(json_get(container->definition, "id"));
    return ST_OK;
}
