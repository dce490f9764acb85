/* src/partition/key.c - header and document to partition key. */
#include <assert.h>

#include "base/limits.h"
#include "partition/key.h"

/* Arrays and objects are no key values: in a document they count as absent. */
static struct json scalar(struct json value)
{
    enum json_kind kind = json_kind(value);

    return kind == JSON_ARRAY || kind == JSON_OBJECT ? json_undefined : value;
}

/* An item of a container without a key of its own has the empty key, however its client says so. */
static void drop_undefined(const struct container *container, struct partition_key *key)
{
    if (container->system_key && key->count == 1 && json_kind(key->component[0]) == JSON_UNDEFINED)
        key->count = 0;
}

static struct json value_at(const struct key_path *path, struct json document)
{
    struct json value = document;

    for (size_t i = 0; i < path->count; i++)
        value = json_member(value, path->segment[i]);
    return scalar(value);
}

void partition_key_extract(const struct container *container, struct json document, struct partition_key *key)
{
    assert(container->key_path_count <= EPK_COMPONENTS_MAX);
    key->count = container->key_path_count;
    for (size_t i = 0; i < key->count; i++)
        key->component[i] = value_at(&container->key_path[i], document);
    drop_undefined(container, key);
}

/* {} stands for undefined; other objects and arrays are refused. */
static enum status read_component(struct op *op, struct json value, struct json *component)
{
    enum json_kind kind = json_kind(value);

    *component = value;
    if (kind == JSON_OBJECT && json_count(value) == 0)
        *component = json_undefined;
    else if (kind == JSON_OBJECT || kind == JSON_ARRAY)
        return op_fail(
            op, ST_BAD_HEADER,
            "Unsupported PartitionKey value component. Numeric, string, bool, null, Undefined are the only "
            "supported types.");
    if (kind == JSON_STRING && json_string(value).size > PARTITION_KEY_BYTES_MAX)
        return op_fail(op, ST_BAD_HEADER, "Partition key is invalid: its value is longer than %d bytes.",
                       PARTITION_KEY_BYTES_MAX);
    return ST_OK;
}

static enum status read_array(struct op *op, struct slice header, struct partition_key *key)
{
    struct json array;

    if (json_parse(op, header, &array) != ST_OK || json_kind(array) != JSON_ARRAY ||
        json_count(array) > EPK_COMPONENTS_MAX)
        return op_fail(op, ST_BAD_HEADER, "Partition key %.*s is invalid.",
                       header.size > 200 ? 200 : (int)header.size, header.data);
    key->count = 0;
    for (struct json_iter i = json_iter(array); json_next(&i);) {
        enum status st = read_component(op, i.value, &key->component[key->count++]);

        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

static enum status check_count(struct op *op, const struct container *container, enum key_use use,
                               size_t count)
{
    size_t wanted = container->key_path_count;

    if (count == wanted || (container->system_key && count == 0))
        return ST_OK;
    if (use == KEY_OF_QUERY && count < wanted && container->epk_version == EPK_MULTI)
        return ST_OK;
    return op_fail(
        op, count < wanted && container->epk_version == EPK_MULTI ? ST_KEY_MISMATCH : ST_BAD_HEADER,
        "Partition key provided either doesn't correspond to definition in the collection or doesn't match "
        "partition key field values specified in the document.");
}

enum status partition_key_read(struct op *op, const struct container *container, struct slice header,
                               enum key_use use, struct partition_key *key, bool *present)
{
    enum status st = ST_OK;

    *present = header.data != NULL;
    key->count = 0;
    if (!*present && use == KEY_OF_ITEM && !container->system_key)
        TRY(op_fail(
            op, ST_BAD_REQUEST,
            "The partition key supplied in x-ms-partitionkey header has fewer components than defined in the "
            "the collection."));
    if (*present) {
        TRY(read_array(op, header, key));
        TRY(check_count(op, container, use, key->count));
        drop_undefined(container, key);
    }
out:
    return st;
}

void partition_key_place(const struct container *container, struct placed_key *key)
{
    epk_compute(container->epk_version, &key->values, &key->epk);
}

static bool is_same_value(struct json a, struct json b)
{
    if (json_kind(a) != json_kind(b))
        return false;
    if (json_kind(a) == JSON_STRING)
        return slice_equal(json_string(a), json_string(b));
    return json_kind(a) != JSON_NUMBER || json_double(a) == json_double(b);
}

bool partition_key_equal(const struct partition_key *a, const struct partition_key *b)
{
    bool same = a->count == b->count;

    for (size_t i = 0; same && i < a->count; i++)
        same = is_same_value(a->component[i], b->component[i]);
    return same;
}

bool partition_key_begins(const struct container *container, struct json document,
                          const struct partition_key *values)
{
    bool same = values->count <= container->key_path_count;

    for (size_t i = 0; same && i < values->count; i++)
        same = is_same_value(value_at(&container->key_path[i], document), values->component[i]);
    return same;
}

bool partition_key_shared(const struct container *container, struct json a, struct json b)
{
    struct partition_key of_a, of_b;

    partition_key_extract(container, a, &of_a);
    partition_key_extract(container, b, &of_b);
    return partition_key_equal(&of_a, &of_b);
}
