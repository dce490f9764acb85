/* test/client/resolver_range_test.c - ranges, tables, times: what the SDKs recorded, and where we differ on purpose. */
#include <math.h>
#include <stdlib.h>

#include "resolver.h"
#include "test.h"

static const orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };

static orrery_resolver *resolver_of(const orrery_range *ranges, size_t count)
{
    orrery_resolver *resolver = NULL;

    CHECK(orrery_resolver_range(&by_id, ranges, count, NULL, &resolver) == ORRERY_OK);
    return resolver;
}

/* The numbers of the collections, "02" for dbs/db/colls/coll0 and coll2. */
static bool links_are(const orrery_links *links, const char *digits)
{
    if (orrery_links_count(links) != strlen(digits))
        return false;
    for (size_t i = 0; digits[i]; i++)
        if (orrery_links_at(links, i)[strlen("dbs/db/colls/coll")] != digits[i])
            return false;
    return true;
}

enum { NOT_COMPARED = 1000, IN_FIRST = 1001 };

static void check_place(orrery_resolver *resolver, orrery_key key, int created, orrery_status read,
                        const char *digits)
{
    orrery_links *links = NULL;
    orrery_status status = orrery_resolve_create(resolver, &key, &links);
    char wanted[2] = { (char)('0' + created - IN_FIRST), '\0' };

    if (created >= IN_FIRST)
        CHECK(status == ORRERY_OK && links_are(links, wanted));
    else if (created != NOT_COMPARED)
        CHECK(status == (orrery_status)created && !links);
    orrery_links_free(links);
    status = orrery_resolve_read(resolver, &key, &links);
    CHECK(status == read);
    CHECK(status != ORRERY_OK || links_are(links, digits));
    orrery_links_free(links);
}

#define IN(number) (IN_FIRST + (number))
#define TEXT(utf8, bytes) ((orrery_key){ .type = ORRERY_KEY_TEXT, .text = utf8, .size = bytes })
#define NUMBER(value) ((orrery_key){ .type = ORRERY_KEY_NUMBER, .number = value })
#define NULL_KEY ((orrery_key){ .type = ORRERY_KEY_NULL })
#define NO_KEY ((orrery_key){ .type = ORRERY_KEY_NONE })
#define RANGE_KEY(...) \
    ((orrery_key){ .type = ORRERY_KEY_RANGE, .items = (orrery_key[]){ __VA_ARGS__ }, .count = 2 })
#define LIST(n, ...) \
    ((orrery_key){ .type = ORRERY_KEY_LIST, .items = (orrery_key[]){ __VA_ARGS__ }, .count = n })

TEST(every_recorded_key_lies_in_the_ranges_where_the_sdk_finds_it)
{
#define MAP(name, count, ...)                          \
    {                                                  \
        const orrery_range ranges[] = { __VA_ARGS__ }; \
        orrery_resolver *resolver = resolver_of(ranges, count);
#define PLACE(key, created, read, digits) check_place(resolver, key, created, read, digits);
#define END_MAP                      \
    orrery_resolver_unref(resolver); \
    }
#include "recorded/placements.def"
}

static orrery_status try_ranges(const orrery_range *ranges, size_t count)
{
    orrery_resolver *resolver = NULL;
    orrery_status status = orrery_resolver_range(&by_id, ranges, count, NULL, &resolver);

    CHECK((resolver != NULL) == (status == ORRERY_OK));
    orrery_resolver_unref(resolver);
    return status;
}

TEST(ranges_that_make_no_sense_are_refused)
{
    orrery_range inverted = { TEXT("Z", 1), TEXT("A", 1), "dbs/db/colls/coll0" };
    orrery_range open = { NO_KEY, NO_KEY, "dbs/db/colls/coll0" },
                 half = { NO_KEY, NUMBER(5), "dbs/db/colls/coll0" };
    orrery_range mixed = { NUMBER(1), TEXT("A", 1), "dbs/db/colls/coll0" },
                 nan = { NUMBER(NAN), NUMBER(NAN), "x" };
    orrery_range unlinked = { NUMBER(1), NUMBER(2), NULL };
    orrery_range kinds[] = { { NUMBER(1), NUMBER(2), "x" }, { TEXT("a", 1), TEXT("b", 1), "x" } };

    CHECK(try_ranges(&inverted, 1) == ORRERY_EINVAL);
    CHECK(try_ranges(&open, 1) == ORRERY_EKEYTYPE);
    CHECK(try_ranges(&half, 1) == ORRERY_EKEYTYPE);
    CHECK(try_ranges(&mixed, 1) == ORRERY_EKEYTYPE);
    CHECK(try_ranges(&nan, 1) == ORRERY_EKEYTYPE);
    CHECK(try_ranges(&unlinked, 1) == ORRERY_ELINK);
    CHECK(try_ranges(kinds, 2) == ORRERY_EKEYTYPE);
    CHECK(try_ranges(NULL, 1) == ORRERY_EINVAL);
    CHECK(try_ranges(NULL, 0) == ORRERY_OK);
}

TEST(a_key_that_is_a_range_is_created_in_the_first_that_has_all_of_it)
{
    orrery_range ranges[] = { { NUMBER(0), NUMBER(10), "dbs/db/colls/coll0" },
                              { NUMBER(5), NUMBER(20), "dbs/db/colls/coll1" } };
    orrery_resolver *resolver = resolver_of(ranges, 2);

    check_place(resolver, RANGE_KEY(NUMBER(5), NUMBER(10)), IN(0), ORRERY_OK, "01");
    check_place(resolver, RANGE_KEY(NUMBER(6), NUMBER(11)), IN(1), ORRERY_OK, "01");
    check_place(resolver, RANGE_KEY(NUMBER(0), NUMBER(20)), ORRERY_ENORANGE, ORRERY_OK, "01");
    check_place(resolver, TEXT("5", 1), ORRERY_EKEYTYPE, ORRERY_EKEYTYPE, "");
    orrery_resolver_unref(resolver);
}

TEST(a_range_without_a_high_end_is_a_point)
{
    orrery_range point = { TEXT("NO", 2), NO_KEY, "dbs/db/colls/coll0" };
    orrery_resolver *resolver = resolver_of(&point, 1);

    check_place(resolver, TEXT("NO", 2), IN(0), ORRERY_OK, "0");
    check_place(resolver, TEXT("NOR", 3), ORRERY_ENORANGE, ORRERY_OK, "");
    orrery_resolver_unref(resolver);
}

TEST(a_table_gives_each_key_its_collection_and_says_which_it_does_not_know)
{
    orrery_lookup rows[] = { { TEXT("contoso", 7), "dbs/db/colls/coll0" },
                             { TEXT("fabrikam", 8), "dbs/db/colls/coll1" },
                             { TEXT("adatum", 6), "dbs/db/colls/coll1" } };
    orrery_resolver *resolver = NULL;

    REQUIRE(orrery_resolver_lookup(&by_id, rows, 3, NULL, &resolver) == ORRERY_OK);
    check_place(resolver, TEXT("adatum", 6), IN(1), ORRERY_OK, "1");
    check_place(resolver, TEXT("nobody", 6), ORRERY_ENORANGE, ORRERY_OK, "");
    check_place(resolver, NO_KEY, ORRERY_ENOKEY, ORRERY_OK, "01");
    orrery_resolver_unref(resolver);
}

static bool reads_as(const char *text, int64_t expected)
{
    int64_t time_ms = -1;

    return time_parse(slice_of(text), &time_ms) && time_ms == expected;
}

TEST(a_time_reads_as_iso_8601_has_it_and_prints_again)
{
    static const int64_t times[] = { 0, -1, 951782399999, 951868800000, 253402300799999, -62135596800000 };
    char text[TIME_TEXT_MAX];
    int64_t back;

    CHECK(reads_as("1970-01-01", 0));
    CHECK(reads_as("2000-02-29T12:30:15Z", 951827415000));
    CHECK(reads_as("2000-02-29T12:30:15.1239+02:00", 951820215123));
    CHECK(reads_as("1969-12-31T23:59:59.999", -1));
    CHECK(!time_parse(slice_of("2001-02-29"), &back) && !time_parse(slice_of("2001-13-01"), &back));
    CHECK(!time_parse(slice_of("2001-01-01T24:00:00Z"), &back) && !time_parse(slice_of(""), &back));
    CHECK(!time_parse(slice_of("2001-01-01T10:00:00Zx"), &back));
    CHECK(!time_parse(slice_of("2001-01-01T10:00:00."), &back));
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        size_t size = time_print(times[i], text);

        CHECK(size > 0 && time_parse(slice_make(text, size), &back) && back == times[i]);
    }
    CHECK(time_print(INT64_C(1) << 62, text) == 0);
}

TEST(documents_find_their_range_by_text_number_and_time)
{
    orrery_extractor by_time = { .size = sizeof(by_time), .property = "at", .as = ORRERY_KEY_TIME };
    orrery_range months[] = { { orrery_key_time(0), orrery_key_time(951868799999), "dbs/db/colls/coll0" },
                              { orrery_key_time(951868800000), orrery_key_time(253402300799999),
                                "dbs/db/colls/coll1" } };
    orrery_resolver *resolver = NULL;
    orrery_links *links = NULL;

    REQUIRE(orrery_resolver_range(&by_time, months, 2, NULL, &resolver) == ORRERY_OK);
    CHECK(orrery_resolve_document(resolver, "{\"at\":\"2000-02-29T23:59:59.999Z\"}", ORRERY_TEXT, &links) ==
          ORRERY_OK);
    CHECK(links_are(links, "0"));
    orrery_links_free(links);
    CHECK(orrery_resolve_document(resolver, "{\"at\":951868800}", ORRERY_TEXT, &links) == ORRERY_OK);
    CHECK(links_are(links, "1"));
    orrery_links_free(links);
    CHECK(orrery_resolve_document(resolver, "{\"at\":\"soon\"}", ORRERY_TEXT, &links) == ORRERY_EKEYTYPE &&
          !links);
    CHECK(orrery_resolve_document(resolver, "{\"at\":true}", ORRERY_TEXT, &links) == ORRERY_EKEYTYPE &&
          !links);
    CHECK(orrery_resolve_document(resolver, "{}", ORRERY_TEXT, &links) == ORRERY_ENOKEY && !links);
    orrery_resolver_unref(resolver);
}

TEST(texts_are_ordered_by_utf_16_units)
{
    static const char *const ordered[] = {
        "", "A", "B", "\355\237\277", "\360\237\230\200", "\364\217\277\277", "\356\200\200", "\357\277\277"
    };

    for (size_t i = 0; i < sizeof(ordered) / sizeof(ordered[0]); i++)
        for (size_t j = 0; j < sizeof(ordered) / sizeof(ordered[0]); j++) {
            int order = text_compare_utf16(slice_of(ordered[i]), slice_of(ordered[j]));

            CHECK((order > 0) - (order < 0) == (i > j) - (i < j));
        }
}

/* ---- types that have an order besides texts and doubles */

static const char *goes_to_link(orrery_resolver *resolver, const char *json)
{
    static char link[64];
    orrery_links *links = NULL;

    snprintf(link, sizeof(link), "%s", "none");
    if (orrery_resolve_document(resolver, json, strlen(json), &links) == ORRERY_OK)
        snprintf(link, sizeof(link), "%s", orrery_links_at(links, 0));
    orrery_links_free(links);
    return link;
}

TEST(integers_of_64_bits_are_compared_exactly)
{
    orrery_extractor by_n = { .size = sizeof(by_n), .property = "n" };
    orrery_range ranges[] = {
        { orrery_key_int(INT64_MIN), orrery_key_int(9007199254740992), "dbs/d/colls/a" },
        { orrery_key_int(9007199254740993), orrery_key_int(9223372036854775806), "dbs/d/colls/b" },
        { orrery_key_int(INT64_MAX), orrery_key_int(INT64_MAX), "dbs/d/colls/c" },
    };
    orrery_resolver *resolver = NULL, *again = NULL;
    char *saved = NULL;

    REQUIRE(orrery_resolver_range(&by_n, ranges, 3, NULL, &resolver) == ORRERY_OK);
    REQUIRE(orrery_resolver_save(resolver, &saved) == ORRERY_OK);
    REQUIRE(orrery_resolver_load(saved, ORRERY_TEXT, NULL, &again) == ORRERY_OK);
    for (int i = 0; i < 2; i++) {
        orrery_resolver *one = i ? again : resolver;

        CHECK(strcmp(goes_to_link(one, "{\"n\":9007199254740992}"), "dbs/d/colls/a") == 0);
        CHECK(strcmp(goes_to_link(one, "{\"n\":9007199254740993}"), "dbs/d/colls/b") == 0);
        CHECK(strcmp(goes_to_link(one, "{\"n\":9223372036854775806}"), "dbs/d/colls/b") == 0);
        CHECK(strcmp(goes_to_link(one, "{\"n\":9223372036854775807}"), "dbs/d/colls/c") == 0);
        CHECK(strcmp(goes_to_link(one, "{\"n\":-9223372036854775808}"), "dbs/d/colls/a") == 0);
        CHECK(strcmp(goes_to_link(one, "{\"n\":0.5}"), "dbs/d/colls/a") == 0);
    }
    orrery_free(saved);
    orrery_resolver_unref(resolver);
    orrery_resolver_unref(again);
}

TEST(booleans_have_an_order_and_arrays_have_none)
{
    orrery_extractor by_b = { .size = sizeof(by_b), .property = "b" };
    orrery_lookup rows[] = { { orrery_key_bool(0), "dbs/d/colls/no" },
                             { orrery_key_bool(1), "dbs/d/colls/yes" } };
    orrery_resolver *resolver = NULL, *again = NULL;
    orrery_links *links = NULL;
    char *saved = NULL;

    REQUIRE(orrery_resolver_lookup(&by_b, rows, 2, NULL, &resolver) == ORRERY_OK);
    REQUIRE(orrery_resolver_save(resolver, &saved) == ORRERY_OK);
    REQUIRE(orrery_resolver_load(saved, ORRERY_TEXT, NULL, &again) == ORRERY_OK);
    CHECK(strcmp(goes_to_link(again, "{\"b\":true}"), "dbs/d/colls/yes") == 0);
    CHECK(strcmp(goes_to_link(again, "{\"b\":false}"), "dbs/d/colls/no") == 0);
    CHECK(orrery_resolve_document(resolver, "{\"b\":[]}", 8, &links) == ORRERY_EKEYTYPE);
    CHECK(orrery_resolve_document(resolver, "{\"b\":1}", 7, &links) == ORRERY_EKEYTYPE);
    orrery_free(saved);
    orrery_resolver_unref(resolver);
    orrery_resolver_unref(again);
}

TEST(of_a_table_with_a_key_twice_the_first_row_counts_and_a_large_one_is_looked_up_by_halves)
{
    enum { ROWS = 100 * 1000 };
    orrery_extractor by_n = { .size = sizeof(by_n), .property = "n" };
    orrery_lookup *rows = calloc(ROWS + 1, sizeof(*rows));
    orrery_resolver *resolver = NULL;

    for (int i = 0; i < ROWS; i++)
        rows[i] = (orrery_lookup){ orrery_key_int((int64_t)i * 7919 % ROWS),
                                   i % 2 ? "dbs/d/colls/odd" : "dbs/d/colls/even" };
    rows[ROWS] = (orrery_lookup){ orrery_key_int(0), "dbs/d/colls/late" };
    REQUIRE(orrery_resolver_lookup(&by_n, rows, ROWS + 1, NULL, &resolver) == ORRERY_OK);
    for (int i = 0; i < ROWS; i += 7) {
        orrery_key key = orrery_key_int((int64_t)i * 7919 % ROWS);
        orrery_links *links = NULL;

        CHECK(orrery_resolve_create(resolver, &key, &links) == ORRERY_OK);
        CHECK(strcmp(orrery_links_at(links, 0), i % 2 ? "dbs/d/colls/odd" : "dbs/d/colls/even") == 0);
        orrery_links_free(links);
    }
    orrery_resolver_unref(resolver);
    free(rows);
}

static orrery_status first_letter(void *context, orrery_value document, orrery_held_key *key)
{
    orrery_key letter = orrery_key_bytes(orrery_value_text(orrery_value_member(document, "id"), NULL), 1);

    (void)context;
    return orrery_held_key_put(key, &letter);
}

TEST(a_state_whose_key_a_function_finds_is_loaded_with_the_function_of_that_name)
{
    orrery_extractor by_letter = { .size = sizeof(by_letter),
                                   .extract = first_letter,
                                   .name = "first letter" };
    orrery_load_options options = { .size = sizeof(options), .extractor = &by_letter };
    orrery_lookup rows[] = { { orrery_key_text("a"), "dbs/d/colls/a" } };
    orrery_resolver *resolver = NULL, *again = NULL;
    char *saved = NULL;

    REQUIRE(orrery_resolver_lookup(&by_letter, rows, 1, NULL, &resolver) == ORRERY_OK);
    REQUIRE(orrery_resolver_save(resolver, &saved) == ORRERY_OK);
    REQUIRE(orrery_resolver_load(saved, ORRERY_TEXT, &options, &again) == ORRERY_OK);
    CHECK(strcmp(goes_to_link(again, "{\"id\":\"abc\"}"), "dbs/d/colls/a") == 0);
    orrery_resolver_unref(again);
    by_letter.name = "last letter";
    CHECK(orrery_resolver_load(saved, ORRERY_TEXT, &options, &again) == ORRERY_ESTATE && !again);
    orrery_free(saved);
    orrery_resolver_unref(resolver);
}
