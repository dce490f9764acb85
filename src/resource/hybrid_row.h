/*
 * src/resource/hybrid_row.h - the binary form in which .NET sends the operations of a batch and reads their results.
 *
 * A stream is a segment header and then records; a record is a header with length and CRC, and a row. Each of them
 * begins with 0x81 and the number of its schema; integers are little-endian. A row begins with one bit for each
 * column that may be absent. Then come the fixed columns, the variable ones that are there (length, bytes), and the
 * sparse ones (type, path, value). There are other schemas; batches use only the two that are here.
 *
 * Ownership. What was read lies in the text. What is written is appended to the buffer, which notes if that fails.
 */
#pragma once
#include "base/buf.h"
#include "base/op.h"

/* Whether a body is in this form: JSON never begins so. */
bool hybrid_row_is(struct slice text);

/* An operation. `data` is NULL in a slice that the row lacks. */
struct hybrid_row_operation {
    int32_t type; /* as enum hybrid_row_type, or another */
    struct slice key, id, body, indexing, if_match, if_none_match;
    bool minimal;
    bool is_foreign; /* has a column that only the service's own parts send to one another */
};

enum hybrid_row_type {
    HYBRID_ROW_CREATE = 0,
    HYBRID_ROW_PATCH = 1,
    HYBRID_ROW_READ = 2,
    HYBRID_ROW_DELETE = 4,
    HYBRID_ROW_REPLACE = 5,
    HYBRID_ROW_UPSERT = 20,
};

/* Reads at most `max` operations. `count` is how many there are, even if that is more. Malformed: ST_BAD_REQUEST. */
enum status hybrid_row_read(struct op *op, struct slice text, struct hybrid_row_operation *operations,
                            size_t max, size_t *count);

struct hybrid_row_result {
    int status, sub_status;
    struct slice etag; /* data is NULL where there is none */
    double charge;
    uint32_t retry_after_ms; /* 0: nothing to wait for */
};

/* Writes the beginning of an answer. */
void hybrid_row_begin(struct buf *out);

/* Appends a record. If it has a body, the caller has appended that before: it is all bytes from `body` on. */
enum { HYBRID_ROW_NO_BODY = -1 };
void hybrid_row_result(struct buf *out, const struct hybrid_row_result *result, ptrdiff_t body);
