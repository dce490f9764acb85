/* test/unit/source/shelf.c - a container with items. */
#include "shelf.h"

struct placed_key shelf_key(struct rig *rig, const struct container *container, const char *header)
{
    struct placed_key key;
    bool present;

    CHECK(partition_key_read(rig->op, container, rig_quoted(rig->op, header), KEY_OF_QUERY, &key.values,
                             &present) == ST_OK);
    partition_key_place(container, &key);
    return key;
}

struct record shelf_put(struct rig *rig, struct partition_txn *txn, const char *document)
{
    struct json parsed = rig_json(rig->op, document);
    struct record item = { 0 };
    bool found;

    CHECK(partition_find(rig->op, txn, json_string(json_get(parsed, "id")), &item, &found) == ST_OK &&
          !found);
    CHECK(partition_create(rig->op, txn, parsed, &item) == ST_OK);
    return item;
}

struct record shelf_add(struct rig *rig, const struct container *container, const char *document)
{
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp = { 0 };
    struct record item;
    struct placed_key *key = arena_alloc(&rig->op->arena, sizeof(*key));

    partition_key_extract(container, rig_json(rig->op, document), &key->values);
    partition_key_place(container, key);
    CHECK(partition_begin_many(rig->op, container, key, &txn) == ST_OK);
    item = shelf_put(rig, txn, document);
    CHECK(partition_commit(rig->op, &txn, &stamp) == ST_OK);
    item.lsn = stamp.lsn;
    item.ts_ms = stamp.ts_ms;
    return item;
}

const char *shelf_ids(struct rig *rig, struct query_source *source)
{
    struct query_row row = { 0 };
    uint64_t last = 0;
    struct buf out;
    bool found;

    buf_init(&out, &rig->op->arena);
    while (source->next(rig->op, source, &row, &found) == ST_OK && found) {
        CHECK(row.number > last && row.counter == number_counter(row.number));
        last = row.number;
        buf_slice(&out, json_string(json_get(row.body, "id")));
    }
    return arena_text(&rig->op->arena, buf_as_slice(&out));
}
