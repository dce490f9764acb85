/* src/resource/clear.c - .../operations/partitionkeydelete: every item of one logical partition deleted. */
#include "partition/key.h"
#include "partition/partition.h"
#include "resource/item.h"
#include "resource/resource.h"
#include "resource/scope.h"

/* The key must be whole: a part of a hierarchical key means many partitions, and the service refuses it. */
static enum status read_key(struct op *op, const struct call *call, struct placed_key *key)
{
    bool present;
    enum status st;

    TRY(partition_key_read(op, call->container, call_header(call, HEADER_PARTITION_KEY), KEY_OF_QUERY,
                           &key->values, &present));
    if (!present)
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "The partition key whose items are to be deleted is missing: "
                    "x-ms-documentdb-partitionkey."));
    if (key->values.count < call->container->key_path_count && !call->container->system_key)
        TRY(op_fail(op, ST_KEY_MISMATCH,
                    "Partition key provided either doesn't correspond to definition in the collection or "
                    "doesn't match partition key field values specified in the document."));
    partition_key_place(call->container, key);
out:
    return st;
}

enum status partition_delete_items(struct op *op, struct call *call, struct reply *reply)
{
    struct commit_stamp stamp = { .lsn = scope_lsn(call, reply) };
    struct placed_key key;
    enum status st;

    if (!slice_is(call->id, "partitionkeydelete"))
        return op_fail(op, ST_NOT_FOUND, "The request path names no operation.");
    scope_all(reply, call);
    TRY(read_key(op, call, &key));
    scope_key(reply, call, &key);
    TRY(partition_clear(op, call->container, &key, &stamp));
    reply_session(reply, stamp.lsn);
    reply_status(reply, 200);
out:
    if (st == ST_WRITE_CONFLICT)
        st = op_fail_as(op, ST_RETRY_WITH);
    return st;
}
