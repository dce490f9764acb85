/* test/unit/ledger/ledger_test.c - records of transactions: kept whole, one for each token, forgotten when they are old. */
#include "base/limits.h"
#include "ledger/record.h"
#include "rig.h"

static struct ledger_token token_of(uint8_t n)
{
    struct ledger_token token = { { [0] = n, [15] = 1 } };

    return token;
}

static struct ledger_record record_of(struct rig *rig, uint8_t n, bool committed)
{
    struct ledger_record record = { .token = token_of(n),
                                    .seed = { 1, 2 },
                                    .body = { 3, 4 },
                                    .committed = committed,
                                    .container_count = 1,
                                    .part_count = 2 };

    record.container = arena_alloc(&rig->op->arena, sizeof(*record.container));
    record.container[0] =
        (struct ledger_container){ .rid = { .size = 8, .bytes = { 1, 2, 3, 4, 0x80, 1, 2, 3 } },
                                   .stamp = { 5, 6 } };
    record.part = arena_alloc(&rig->op->arena, 2 * sizeof(*record.part));
    record.part[0] =
        (struct ledger_part){ .status = 201, .container = 0, .range = 7, .etag = 8, .charge = 5.25 };
    record.part[1] = (struct ledger_part){ .status = 404, .container = LEDGER_NOWHERE, .sub_status = 1003 };
    return record;
}

static enum status note(struct rig *rig, uint8_t n, uint64_t seen)
{
    struct ledger_record record = record_of(rig, n, false);
    struct commit witness;

    ledger_note(rig->op, rig->ledger, &record, seen, &witness);
    return ledger_commit(rig->op, &witness);
}

static bool has(struct rig *rig, uint8_t n)
{
    struct ledger_token token = token_of(n);
    struct ledger_record record;
    bool found;

    CHECK(ledger_find(rig->op, rig->ledger, &token, &record, &found) == ST_OK);
    return found;
}

TEST(a_token_is_a_uuid_and_not_the_empty_one)
{
    static const char *const bad[] = { "",
                                       "51eb84be",
                                       "51eb84bebf6547498806f12cd964658a",
                                       "51eb84be-bf65-4749-8806-f12cd964658",
                                       "51eb84be-bf65-4749-8806-f12cd964658a0",
                                       "51eb84be-bf65-4749-8806-f12cd964658g",
                                       "51eb84be+bf65-4749-8806-f12cd964658a",
                                       "00000000-0000-0000-0000-000000000000" };
    struct ledger_token token, upper;

    REQUIRE(ledger_token_parse(slice_of("51eb84be-bf65-4749-8806-f12cd964658a"), &token));
    CHECK(token.bytes[0] == 0x51 && token.bytes[15] == 0x8a);
    REQUIRE(ledger_token_parse(slice_of(" 51EB84BE-BF65-4749-8806-F12CD964658A "), &upper));
    CHECK(memcmp(&token, &upper, sizeof(token)) == 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(!ledger_token_parse(slice_of(bad[i]), &token));
}

TEST(a_record_comes_back_as_it_was_noted_after_a_restart_too)
{
    struct ledger_token token = token_of(1);
    struct ledger_record record;
    struct rig rig;
    bool found;

    rig_open(&rig, false);
    CHECK(note(&rig, 1, ledger_lsn(rig.ledger)) == ST_OK);
    rig_reopen(&rig);
    REQUIRE(ledger_find(rig.op, rig.ledger, &token, &record, &found) == ST_OK && found);
    CHECK(!record.committed && record.container_count == 1 && record.part_count == 2);
    CHECK(record.seed.k0 == 1 && record.seed.k1 == 2 && record.body.h1 == 3 && record.body.h2 == 4);
    CHECK(record.container[0].rid.size == 8 && record.container[0].stamp.lsn == 5);
    CHECK(record.part[0].status == 201 && record.part[0].range == 7 && record.part[0].etag == 8);
    CHECK(record.part[0].charge == 5.25);
    CHECK(record.part[1].container == LEDGER_NOWHERE && record.part[1].sub_status == 1003);
    CHECK(!has(&rig, 2));
    rig_close(&rig);
}

TEST(of_two_who_note_one_token_the_second_is_refused)
{
    struct rig rig;
    uint64_t seen;

    rig_open(&rig, false);
    seen = ledger_lsn(rig.ledger);
    CHECK(note(&rig, 1, seen) == ST_OK);
    CHECK(note(&rig, 1, seen) == ST_WRITE_CONFLICT);
    CHECK(note(&rig, 2, seen) == ST_OK); /* another token is nobody's business */
    rig_close(&rig);
}

TEST(records_are_forgotten_when_they_are_old_and_counted)
{
    struct bucket_usage usage;
    struct rig rig;
    uint64_t records;

    rig_open(&rig, false);
    for (uint8_t n = 1; n <= 3; n++) {
        CHECK(note(&rig, n, ledger_lsn(rig.ledger)) == ST_OK);
        rig_advance_ms(&rig, 1000);
    }
    CHECK(ledger_verify(rig.op, rig.ledger, &records) == ST_OK && records == 3);
    CHECK(ledger_forget(rig.op, rig.ledger, 5000) == ST_OK);
    CHECK(has(&rig, 1) && has(&rig, 2) && has(&rig, 3));
    op_renew_time(rig.op);
    CHECK(ledger_forget(rig.op, rig.ledger, 1500) == ST_OK);
    CHECK(!has(&rig, 1) && !has(&rig, 2) && has(&rig, 3));
    CHECK(ledger_verify(rig.op, rig.ledger, &records) == ST_OK && records == 1);
    ledger_usage(rig.ledger, &usage);
    CHECK(usage.documents == 1 && usage.bytes > 0);
    CHECK(ledger_forget(rig.op, rig.ledger, 0) == ST_OK);
    ledger_usage(rig.ledger, &usage);
    CHECK(usage.documents == 0 && usage.bytes == 0);
    rig_close(&rig);
}

TEST(whatever_bytes_a_record_has_reading_it_ends_well)
{
    struct rig rig;
    struct ledger_record record, read;
    uint8_t *stamps, *value;
    size_t size;

    rig_open(&rig, false);
    record = record_of(&rig, 1, true);
    value = ledger_record_encode(rig.op, &record, &size, &stamps);
    value_stamp(value, size, 1, 2);
    CHECK(ledger_record_decode(rig.op, slice_make(value, size), &read) == ST_OK);
    for (size_t cut = 0; cut < size; cut++)
        CHECK(ledger_record_decode(rig.op, slice_make(value, cut), &read) == ST_CORRUPT);
    for (size_t at = 0; at < size; at++) { /* with a checksum that vouches for it */
        uint8_t kept = value[at];

        value[at] ^= 0xff;
        value_stamp(value, size, 1, 2);
        (void)!ledger_record_decode(rig.op, slice_make(value, size), &read);
        value[at] = kept;
    }
    rig_close(&rig);
}
