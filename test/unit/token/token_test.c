/* test/unit/token/token_test.c - tokens come back as they went out, and nothing else is taken for one. */
#include "base/encode.h"
#include "base/hash.h"
#include "keys/bytes.h"
#include "token/token.h"
#include "test.h"

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";

static struct rid container_rid(void)
{
    struct rid database = rid_database(7);

    return rid_container(&database, 9);
}

static struct slice print(const struct continuation *continuation)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    continuation_print(&out, continuation);
    return buf_as_slice(&out);
}

static struct slice documents_token(uint64_t number)
{
    return print(&(struct continuation){
        .kind = CONTINUATION_DOCUMENTS, .container = container_rid(), .after_number = number });
}

static struct slice catalog_token(struct rid after)
{
    return print(&(struct continuation){ .kind = CONTINUATION_CATALOG, .after = after });
}

static bool parses(struct slice text, enum continuation_kind kind, const struct rid *owner)
{
    struct continuation got;

    return continuation_parse(test_op(), text, kind, owner, &got) == ST_OK;
}

TEST(a_continuation_of_documents_comes_back)
{
    struct rid owner = container_rid();

    for (int i = 0; i < 1000; i++) {
        uint64_t number = test_random() >> test_random() % 64;
        struct continuation got;

        REQUIRE(continuation_parse(test_op(), documents_token(number), CONTINUATION_DOCUMENTS, &owner,
                                   &got) == ST_OK);
        CHECK(got.kind == CONTINUATION_DOCUMENTS && got.after_number == number);
        CHECK(rid_equal(&got.container, &owner));
    }
}

TEST(a_continuation_of_a_query_comes_back_to_its_owner_and_no_other)
{
    char bytes[CONTINUATION_POSITION_BYTES_MAX];
    struct rid owners[] = { { 0 }, rid_database(7), container_rid() };

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)test_random();
    for (size_t size = 0; size <= sizeof(bytes); size++) {
        struct rid *owner = &owners[size % 3], *other = &owners[(size + 1) % 3];
        struct continuation got, query = { .kind = CONTINUATION_QUERY,
                                           .container = *owner,
                                           .query = test_random(),
                                           .position = slice_make(bytes, size) };
        struct slice text = print(&query);

        CHECK(text.size <= 1024);
        REQUIRE(continuation_parse(test_op(), text, CONTINUATION_QUERY, owner, &got) == ST_OK);
        CHECK(got.query == query.query && slice_equal(got.position, query.position));
        CHECK(!parses(text, CONTINUATION_QUERY, other));
    }
}

TEST(a_continuation_of_the_catalog_comes_back)
{
    struct rid account = { 0 }, database = rid_database(7), container = container_rid();
    struct rid procedure = rid_make(RID_TYPE_PROCEDURE, &container, 12), attachment = procedure;
    const struct rid *owners[] = { &account, &database, &container, &procedure };
    const struct rid *after[] = { &database, &container, &procedure, &attachment };

    attachment.size = RID_BYTES_MAX;
    for (size_t i = 0; i < 4; i++) {
        struct continuation got;

        REQUIRE(continuation_parse(test_op(), catalog_token(*after[i]), CONTINUATION_CATALOG, owners[i],
                                   &got) == ST_OK);
        CHECK(rid_equal(&got.after, after[i]));
        CHECK(
            !parses(catalog_token(*after[i]), CONTINUATION_CATALOG, after[i])); /* nothing is below itself */
    }
}

TEST(a_continuation_is_printable_and_short)
{
    struct slice text = documents_token(UINT64_MAX);

    CHECK(text.size == 32);
    for (size_t i = 0; i < text.size; i++)
        CHECK(strchr(base64_digits, text.data[i]));
}

TEST(a_continuation_of_another_owner_or_kind_is_refused)
{
    struct rid owner = container_rid(), database = rid_database(8), other = owner;

    other.bytes[7] ^= 1;
    CHECK(parses(documents_token(5), CONTINUATION_DOCUMENTS, &owner));
    CHECK(!parses(documents_token(5), CONTINUATION_DOCUMENTS, &other));
    CHECK(!parses(documents_token(5), CONTINUATION_CATALOG, &owner));
    CHECK(!parses(catalog_token(owner), CONTINUATION_DOCUMENTS, &owner));
    CHECK(!parses(catalog_token(owner), CONTINUATION_CATALOG, &database));
}

/* Each character replaced by each other one: the checksum, the padding or the shape notices. */
TEST(a_continuation_with_any_character_changed_is_refused)
{
    struct rid owner = container_rid();
    struct slice right[] = { documents_token(0x123456789), catalog_token(rid_make(RID_TYPE_UDF, &owner, 3)) };

    for (size_t which = 0; which < 2; which++)
        for (size_t at = 0; at < right[which].size; at++)
            for (const char *digit = base64_digits; *digit; digit++) {
                char *text = arena_text(&test_op()->arena, right[which]);
                bool same = text[at] == *digit;

                text[at] = *digit;
                CHECK(parses(slice_of(text), CONTINUATION_DOCUMENTS + which, &owner) == same);
            }
}

TEST(a_malformed_continuation_is_a_bad_request_with_the_services_words)
{
    static const char *const rows[] = {
        "", "A", "AQE=", "AQEAAAAA", "not base64!", "{\"token\":null}", "-RID:~x#RT:1"
    };
    struct rid owner = container_rid();
    struct continuation got;
    struct slice right = documents_token(1);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK(continuation_parse(test_op(), slice_of(rows[i]), CONTINUATION_DOCUMENTS, &owner, &got) ==
              ST_BAD_REQUEST);
        CHECK(slice_is(slice_of(test_op()->error), "Invalid Continuation Token"));
    }
    for (size_t size = 0; size < right.size; size++)
        CHECK(!parses(slice_make(right.data, size), CONTINUATION_DOCUMENTS, &owner));
}

TEST(a_right_checksum_does_not_excuse_a_wrong_size)
{
    uint8_t bytes[] = { 1, CONTINUATION_DOCUMENTS, 0, 0, 0, 7, 0x80, 0, 0, 9, 0, 0, 0, 0 };
    struct rid owner = container_rid();
    struct buf out;

    put_be(bytes + 10, crc32c(0, bytes, 10), 4); /* the container, and no number */
    buf_init(&out, &test_op()->arena);
    base64_encode(&out, slice_make(bytes, sizeof(bytes)));
    CHECK(!parses(buf_as_slice(&out), CONTINUATION_DOCUMENTS, &owner));
}

static enum status lsn_of(const char *header, uint32_t range, uint64_t *lsn)
{
    static const uint32_t live[] = { 0, 1, 2, 3, 12 };
    struct session_ranges ranges = { .asked = { &range, 1 }, .live = { live, 5 }, .next_id = 20 };

    return session_token_lsn(test_op(), slice_of(header), &ranges, lsn);
}

TEST(a_session_token_is_written_in_the_vector_form_and_read_back)
{
    struct buf out;
    uint64_t lsn;

    buf_init(&out, &test_op()->arena);
    session_token_print(&out, 0, 57, false);
    CHECK(slice_is(buf_as_slice(&out), "0:-1#57"));
    CHECK(lsn_of("0:-1#57", 0, &lsn) == ST_OK && lsn == 57);
}

TEST(older_clients_get_a_session_token_without_its_version)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    session_token_print(&out, 11, 57, true);
    CHECK(slice_is(buf_as_slice(&out), "11:57"));
}

TEST(a_header_is_checked_whatever_ranges_it_names)
{
    CHECK(session_token_check(test_op(), slice_of("")) == ST_OK);
    CHECK(session_token_check(test_op(), slice_of("0:-1#5,999:-1#6")) == ST_OK);
    CHECK(session_token_check(test_op(), slice_of("0:-1#5,nothing")) == ST_BAD_REQUEST);
}

TEST(several_ranges_are_asked_for_the_most_that_any_of_them_has_shown)
{
    static const uint32_t live[] = { 0, 1, 2, 3 };
    struct session_ranges ranges = { .asked = { live + 1, 2 }, .live = { live, 4 }, .next_id = 4 };
    uint64_t lsn;

    CHECK(session_token_lsn(test_op(), slice_of("0:-1#90,1:-1#5,2:-1#6,3:-1#91"), &ranges, &lsn) == ST_OK &&
          lsn == 6);
    CHECK(session_token_lsn(test_op(), slice_of("4294967297:-1#9"), &ranges, &lsn) == ST_OK && lsn == 0);
}

TEST(a_range_that_is_gone_speaks_for_all_and_one_that_never_was_for_none)
{
    static const uint32_t live[] = { 4, 3 };
    struct session_ranges ranges = { .asked = { live, 1 }, .live = { live, 2 }, .next_id = 5 };
    uint64_t lsn;

    CHECK(session_token_lsn(test_op(), slice_of("1:-1#7,3:-1#9,5:-1#11"), &ranges, &lsn) == ST_OK &&
          lsn == 7);
}

TEST(an_etag_is_read_back_and_nothing_else_is)
{
    static const char *const others[] = { "", "*", "\"1\"", "\"0000001-0000-0000-0000-000000000000\"",
                                          "\"0000000g-0000-0000-0000-000000000000\"" };
    struct buf out;
    uint64_t etag = 0;

    buf_init(&out, &test_op()->arena);
    etag_print(&out, 0x123456789abcdef0, 1700000000000);
    CHECK(etag_parse(buf_as_slice(&out), &etag) && etag == 0x123456789abcdef0);
    CHECK(etag_parse(slice_make(out.data + 1, out.size - 2), &etag) && etag == 0x123456789abcdef0);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        CHECK(!etag_parse(slice_of(others[i]), &etag));
}

TEST(a_session_token_asks_for_the_lsn_of_its_range)
{
    static const struct {
        const char *header;
        uint32_t range;
        uint64_t lsn;
    } rows[] = {
        { "0:-1#57", 0, 57 },
        { "0:-1#57", 1, 0 },
        { "0:57", 0, 57 },
        { "-1#57", 0, 57 }, /* no range: speaks for all */
        { "57", 12, 57 },
        { "0:-1#5,1:-1#6,12:-1#7", 1, 6 },
        { "0:-1#5, 1:-1#6 ,12:-1#7", 12, 7 },
        { "0:-1#5,1:3#6#1=4#2=9", 1, 6 },
        { "0:1#100#1=20#2=5#3=30", 0, 100 },
        { "0:-1#5,0:-1#9,0:-1#7", 0, 9 }, /* the most that was asked for */
        { "0:-1#-1", 0, 0 },
        { "0:-1#9223372036854775807", 0, INT64_MAX },
        { "", 0, 0 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t lsn = 99;

        CHECK(lsn_of(rows[i].header, rows[i].range, &lsn) == ST_OK);
        CHECK(lsn == rows[i].lsn);
    }
}

TEST(a_malformed_session_token_is_a_bad_request)
{
    static const char *const rows[] = {
        "x",          "0:",        ":1",         "0:x",     "0:-1#",
        "0:-1#x",     "0:x#1",     "0:-1#1#",    "0:1#2#3", "0:1#2#=3",
        "0:1#2#3=",   "0:1#2#3=x", "0:-1#1,",    ",0:-1#1", "0:-1#1,,1:-1#2",
        " ",          "0:-1#1 2",  "0:-1#1;1:2", "0:1:2",   "0:-1#99999999999999999999",
        "0:1#2##3=4",
    };
    uint64_t lsn;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        enum status st = lsn_of(rows[i], 7, &lsn); /* malformed even when it is about other ranges */

        if (st != ST_BAD_REQUEST)
            printf("%s\n", rows[i]);
        CHECK(st == ST_BAD_REQUEST);
        CHECK(st != ST_BAD_REQUEST ||
              slice_starts_with(slice_of(test_op()->error), "The session token provided '"));
    }
}

static struct slice etag_of(uint64_t etag, int64_t ts_ms)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    etag_print(&out, etag, ts_ms);
    return buf_as_slice(&out);
}

TEST(an_etag_looks_like_the_services)
{
    CHECK(slice_is(etag_of(0x000007000000d826, 0x5f0e8e3fLL * 1000 + 999),
                   "\"0000d826-0000-0700-0000-5f0e8e3f0000\""));
    CHECK(slice_is(etag_of(UINT64_MAX, 0), "\"ffffffff-0000-ffff-ffff-000000000000\""));
}

TEST(etags_that_differ_in_any_bit_look_different)
{
    uint64_t etag = test_random();

    for (int bit = 0; bit < 64; bit++)
        CHECK(!slice_equal(etag_of(etag, 5000), etag_of(etag ^ 1ull << bit, 5000)));
}

#define RIGHT "0000d826-0000-0700-0000-5f0e8e3f0000"
#define WRONG "0000d827-0000-0700-0000-5f0e8e3f0000"

TEST(an_etag_matches_in_every_form_a_client_sends)
{
    static const struct {
        const char *header;
        bool matches;
    } rows[] = {
        { "\"" RIGHT "\"", true },
        { RIGHT, true },
        { "W/\"" RIGHT "\"", true },
        { "*", true },
        { " * ", true },
        { "\"" WRONG "\", \"" RIGHT "\"", true },
        { "\"" WRONG "\",W/\"" RIGHT "\" ", true },
        { WRONG ",*", true },
        { "\"" WRONG "\"", false },
        { WRONG, false },
        { "", false },
        { ",", false },
        { "\"", false },
        { "\"\"", false },
        { "W/", false },
        { "\"*\"", false },
        { "\"" RIGHT, false },
        { RIGHT "0", false },
        { "0000d826", false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK(etag_matches(slice_of(rows[i].header), 0x000007000000d826, 0x5f0e8e3fLL * 1000) ==
              rows[i].matches);
}
