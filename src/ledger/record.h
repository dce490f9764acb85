/*
 * src/ledger/record.h - the bytes of records, for this folder only.
 * A record: format 1, committed 1, 2 unused, CRC 4, LSN 8, ts 8 (as every stamped value, keys/record.h); seed 16, hash of
 * the request 16, containers 2, parts 2; a stamp of 16 and a rid of 8 for each container, all stamps first; and for each part
 * status 2, container 2, sub-status 4, range 4, charge in hundredths 4, etag 8. Integers are little-endian.
 * A line of the log, by which records are forgotten: the same beginning, then the token 16 and the record's size 4.
 */
#pragma once
#include "ledger/ledger.h"

struct ledger_line {
    struct ledger_token token;
    int64_t ts_ms;
    uint32_t record_bytes;
};

/* `stamps` is where the containers' stamps lie in it. */
uint8_t *ledger_record_encode(struct op *op, const struct ledger_record *record, size_t *size,
                              uint8_t **stamps);
enum status ledger_record_decode(struct op *op, struct slice value, struct ledger_record *record);

uint8_t *ledger_line_encode(struct op *op, const struct ledger_token *token, size_t record_bytes,
                            size_t *size);
enum status ledger_line_decode(struct op *op, struct slice value, struct ledger_line *line);
