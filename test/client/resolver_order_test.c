/* test/client/resolver_order_test.c - ranges and tables over every type that has an order, by a caller's order, and as .NET's. */
#include <stdlib.h>

#include "resolver.h"
#include "test.h"

static const orrery_extractor by_k = { .size = sizeof(by_k), .property = "k" };

/* The last letters of the links: "ac" for dbs/d/colls/a and dbs/d/colls/c; or why there are none. */
static const char *letters(orrery_status status, orrery_links *links)
{
    static char text[16];
    size_t count = orrery_links_count(links);

    for (size_t i = 0; i < count && i < sizeof(text) - 1; i++)
        text[i] = orrery_links_at(links, i)[strlen("dbs/d/colls/")];
    text[count < sizeof(text) ? count : sizeof(text) - 1] = '\0';
    if (status != ORRERY_OK)
        snprintf(text, sizeof(text), "%s",
                 status == ORRERY_EKEYTYPE   ? "no type"
                 : status == ORRERY_ENORANGE ? "no range"
                 : status == ORRERY_ENOKEY   ? "no key"
                                             : "another failure");
    orrery_links_free(links);
    return text;
}

static const char *created(orrery_resolver *resolver, orrery_key key)
{
    orrery_links *links = NULL;
    orrery_status status = orrery_resolve_create(resolver, &key, &links);

    return letters(status, links);
}

static const char *read(orrery_resolver *resolver, orrery_key key)
{
    orrery_links *links = NULL;
    orrery_status status = orrery_resolve_read(resolver, &key, &links);

    return letters(status, links);
}

static const char *placed(orrery_resolver *resolver, const char *json)
{
    orrery_links *links = NULL;
    orrery_status status = orrery_resolve_document(resolver, json, strlen(json), &links);

    return letters(status, links);
}

#define SAYS(said, wanted) CHECK(strcmp(said, wanted) == 0)

/* Saved, loaded and saved again it says the same; the loaded one takes its place. */
static void through_state(orrery_resolver **resolver, const orrery_load_options *options)
{
    orrery_resolver *again = NULL;
    char *saved = NULL, *twice = NULL;

    REQUIRE(orrery_resolver_save(*resolver, &saved) == ORRERY_OK);
    REQUIRE(orrery_resolver_load(saved, ORRERY_TEXT, options, &again) == ORRERY_OK);
    CHECK(orrery_resolver_save(again, &twice) == ORRERY_OK && strcmp(saved, twice) == 0);
    orrery_free(saved);
    orrery_free(twice);
    orrery_resolver_unref(*resolver);
    *resolver = again;
}

TEST(null_is_a_key_where_an_end_is_null)
{
    orrery_range ranges[] = { { orrery_key_null(), orrery_key_none(), "dbs/d/colls/n" },
                              { orrery_key_int(0), orrery_key_int(9), "dbs/d/colls/a" } };
    orrery_resolver *resolver = NULL;

    REQUIRE(orrery_resolver_range(&by_k, ranges, 2, NULL, &resolver) == ORRERY_OK);
    for (int i = 0; i < 2; i++) {
        SAYS(placed(resolver, "{\"k\":null}"), "n");
        SAYS(placed(resolver, "{\"k\":5}"), "a");
        SAYS(placed(resolver, "{}"), "no key");
        SAYS(read(resolver, orrery_key_null()), "n");
        SAYS(read(resolver, orrery_key_none()), "na");
        through_state(&resolver, NULL);
    }
    orrery_resolver_unref(resolver);
    REQUIRE(orrery_resolver_range(&by_k, ranges + 1, 1, NULL, &resolver) == ORRERY_OK);
    SAYS(placed(resolver, "{\"k\":null}"), "no key");
    SAYS(read(resolver, orrery_key_null()), "a");
    orrery_resolver_unref(resolver);
}

TEST(guids_are_compared_as_numbers_whatever_their_spelling)
{
    orrery_extractor by_guid = { .size = sizeof(by_guid), .property = "k", .as = ORRERY_KEY_GUID };
    orrery_range ranges[] = {
        { orrery_key_guid("00000000-0000-0000-0000-000000000000"),
          orrery_key_guid("7FFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"), "dbs/d/colls/a" },
        { orrery_key_guid("{80000000-0000-0000-0000-000000000000}"),
          orrery_key_guid("ffffffffffffffffffffffffffffffff"), "dbs/d/colls/b" },
    };
    orrery_resolver *resolver = NULL;

    REQUIRE(orrery_resolver_range(&by_guid, ranges, 2, NULL, &resolver) == ORRERY_OK);
    for (int i = 0; i < 2; i++) {
        SAYS(placed(resolver, "{\"k\":\"7fffffff-ffff-ffff-ffff-fffffffffffF\"}"), "a");
        SAYS(placed(resolver, "{\"k\":\"{80000000-0000-0000-0000-000000000000}\"}"), "b");
        SAYS(created(resolver, orrery_key_guid("6f9619ff8b86d011b42d00c04fc964ff")), "a");
        SAYS(created(resolver, orrery_key_text("x")), "no type");
        through_state(&resolver, NULL);
    }
    SAYS(placed(resolver, "{\"k\":\"7fffffff-ffff-ffff-ffff-ffffffffffg\"}"), "no type");
    SAYS(placed(resolver, "{\"k\":\"7fffffff+ffff-ffff-ffff-ffffffffffff\"}"), "no type");
    orrery_resolver_unref(resolver);
}

TEST(composite_keys_are_compared_part_by_part)
{
    const char *names[] = { "country", "year" };
    orrery_extractor by_both = {
        .size = sizeof(by_both), .properties = names, .property_count = 2, .as = ORRERY_KEY_TUPLE
    };
    orrery_key a[] = { orrery_key_text("de"), orrery_key_int(2000) },
               b[] = { orrery_key_text("de"), orrery_key_int(2010) },
               c[] = { orrery_key_text("fr"), orrery_key_null() },
               d[] = { orrery_key_text("fr"), orrery_key_int(9007199254740993) };
    orrery_range ranges[] = { { orrery_key_tuple(a, 2), orrery_key_tuple(b, 2), "dbs/d/colls/g" },
                              { orrery_key_tuple(c, 2), orrery_key_tuple(d, 2), "dbs/d/colls/f" },
                              { orrery_key_tuple(d, 1), orrery_key_tuple(d, 1), "dbs/d/colls/w" } };
    orrery_resolver *resolver = NULL;

    REQUIRE(orrery_resolver_range(&by_both, ranges, 3, NULL, &resolver) == ORRERY_OK);
    for (int i = 0; i < 2; i++) {
        SAYS(placed(resolver, "{\"country\":\"de\",\"year\":2010}"), "g");
        SAYS(placed(resolver, "{\"country\":\"de\",\"year\":2011}"), "no range");
        SAYS(placed(resolver, "{\"country\":\"fr\",\"year\":null}"), "f");
        SAYS(placed(resolver, "{\"country\":\"fr\",\"year\":9007199254740993}"), "f");
        SAYS(placed(resolver, "{\"country\":\"fr\",\"year\":9007199254740994}"), "no range");
        SAYS(placed(resolver, "{\"country\":\"fr\",\"year\":\"x\"}"),
             "no range"); /* texts are above numbers */
        SAYS(placed(resolver, "{\"country\":\"fr\"}"), "no key");
        SAYS(created(resolver, orrery_key_tuple(d, 1)), "w"); /* the beginning of others is below them */
        through_state(&resolver, NULL);
    }
    SAYS(placed(resolver, "{\"country\":\"fr\",\"year\":[]}"), "no type");
    orrery_resolver_unref(resolver);
}

/* Texts by their length, and everything else above them. */
static int by_length(void *context, const orrery_key *a, const orrery_key *b)
{
    size_t x = a->type == ORRERY_KEY_TEXT ? a->size : SIZE_MAX,
           y = b->type == ORRERY_KEY_TEXT ? b->size : SIZE_MAX;

    (*(int *)context)++;
    return (x > y) - (x < y);
}

TEST(a_callers_order_decides_in_ranges_and_tables_and_is_brought_again_for_a_state)
{
    int asked = 0;
    orrery_range_options options = {
        .size = sizeof(options), .compare = by_length, .context = &asked, .name = "length"
    };
    orrery_load_options load = { .size = sizeof(load), .ranges = &options };
    orrery_range ranges[] = { { orrery_key_text("a"), orrery_key_text("aaa"), "dbs/d/colls/s" },
                              { orrery_key_text("aaaa"), orrery_key_text("aaaaaa"), "dbs/d/colls/l" },
                              { orrery_key_null(), orrery_key_none(), "dbs/d/colls/o" } };
    orrery_lookup rows[] = { { orrery_key_text("xx"), "dbs/d/colls/t" },
                             { orrery_key_text("x"), "dbs/d/colls/o" } };
    orrery_resolver *resolver = NULL, *again = NULL;
    char *saved = NULL;

    REQUIRE(orrery_resolver_range(&by_k, ranges, 3, &options, &resolver) == ORRERY_OK);
    for (int i = 0; i < 2; i++) {
        SAYS(placed(resolver, "{\"k\":\"zz\"}"), "s");
        SAYS(placed(resolver, "{\"k\":\"zzzzz\"}"), "l");
        SAYS(placed(resolver, "{\"k\":null}"), "o");
        SAYS(placed(resolver, "{\"k\":12}"), "o");
        SAYS(read(resolver, orrery_key_text("....")), "l");
        through_state(&resolver, &load);
    }
    CHECK(asked > 0 && orrery_resolver_save(resolver, &saved) == ORRERY_OK);
    options.name = "weight";
    CHECK(orrery_resolver_load(saved, ORRERY_TEXT, &load, &again) == ORRERY_ESTATE);
    CHECK(orrery_resolver_load(saved, ORRERY_TEXT, NULL, &again) == ORRERY_ESTATE);
    orrery_free(saved);
    orrery_resolver_unref(resolver);
    options.name = NULL;
    REQUIRE(orrery_resolver_lookup(&by_k, rows, 2, &options, &resolver) == ORRERY_OK);
    SAYS(placed(resolver, "{\"k\":\"ab\"}"), "t");
    SAYS(read(resolver, orrery_key_text("a")), "o");
    CHECK(orrery_resolver_save(resolver, &saved) == ORRERY_ESTATE); /* nobody could bring it again */
    orrery_resolver_unref(resolver);
}

/* What Microsoft.Azure.DocumentDB.Core 2.11.6 was seen to do where its runtime orders texts by their units. */
TEST(ranges_as_nets_are_in_order_convert_keys_and_repeat_collections)
{
    orrery_range_options net = { .size = sizeof(net), .net = 1 };
    orrery_range texts[] = { { orrery_key_text("N"), orrery_key_text("Z\xef\xbf\xbf"), "dbs/d/colls/1" },
                             { orrery_key_text("A"), orrery_key_text("M\xef\xbf\xbf"), "dbs/d/colls/0" } };
    orrery_range numbers[] = { { orrery_key_int(20), orrery_key_int(29), "dbs/d/colls/2" },
                               { orrery_key_int(0), orrery_key_int(9), "dbs/d/colls/0" },
                               { orrery_key_int(5), orrery_key_int(19), "dbs/d/colls/1" } };
    orrery_key list[] = { orrery_key_text("B"), orrery_key_text("P"), orrery_key_text("B") },
               ends[] = { orrery_key_text("A"), orrery_key_text("B") };
    orrery_resolver *resolver = NULL;

    REQUIRE(orrery_resolver_range(&by_k, texts, 2, &net, &resolver) == ORRERY_OK);
    for (int i = 0; i < 2; i++) {
        SAYS(created(resolver, orrery_key_text("Ma")), "0");
        SAYS(created(resolver, orrery_key_text("a")), "no range");
        SAYS(created(resolver, orrery_key_text("")), "no range");
        SAYS(created(resolver, orrery_key_null()), "no key");
        SAYS(created(resolver, orrery_key_int(5)), "no range");
        SAYS(read(resolver, orrery_key_int(5)), "");
        SAYS(read(resolver, orrery_key_null()), "01");
        SAYS(read(resolver, orrery_key_list(list, 3)), "010");
        SAYS(read(resolver, orrery_key_range(ends)), "0");
        SAYS(created(resolver, orrery_key_range(ends)), "no type");
        through_state(&resolver, NULL);
    }
    orrery_resolver_unref(resolver);
    REQUIRE(orrery_resolver_range(&by_k, numbers, 3, &net, &resolver) == ORRERY_OK);
    SAYS(created(resolver, orrery_key_number(4.5)), "0"); /* 4: of two as near, the even one */
    SAYS(created(resolver, orrery_key_number(9.5)), "1");
    SAYS(created(resolver, orrery_key_text(" 5 ")), "0");
    SAYS(created(resolver, orrery_key_number(29.4)), "2");
    SAYS(created(resolver, orrery_key_int(30)), "no range");
    SAYS(created(resolver, orrery_key_text("B")), "no type");
    SAYS(created(resolver, orrery_key_bool(1)), "0");
    SAYS(read(resolver, orrery_key_int(7)), "01");
    orrery_resolver_unref(resolver);
    numbers[0] = numbers[1];
    CHECK(orrery_resolver_range(&by_k, numbers, 3, &net, &resolver) == ORRERY_EINVAL);
}

TEST(ranges_of_nets_own_state_are_looked_up_as_there)
{
    static const char state[] = "{\"PartitionKeyPropertyName\":\"k\",\"PartitionMap\":{\"10,19\":\"dbs/d/"
                                "colls/1\",\"0,12\":\"dbs/d/colls/0\"}}";
    orrery_load_options load = { .size = sizeof(load), .range_type = ORRERY_KEY_NUMBER };
    orrery_resolver *resolver = NULL;

    REQUIRE(orrery_resolver_load(state, ORRERY_TEXT, &load, &resolver) == ORRERY_OK);
    SAYS(placed(resolver, "{\"k\":\"11\"}"), "0");
    SAYS(placed(resolver, "{\"k\":12.5}"), "0");
    SAYS(placed(resolver, "{\"k\":12.6}"), "1");
    orrery_resolver_unref(resolver);
}

static int is_large(void *context, orrery_value document)
{
    return orrery_value_number(orrery_value_member(document, "k")) >= *(double *)context;
}

TEST(kinds_that_functions_tell_apart_are_loaded_with_the_functions_of_their_names)
{
    double limit = 100;
    orrery_range all = { orrery_key_int(0), orrery_key_int(1000), "dbs/d/colls/l" };
    orrery_kind kinds[] = { { "large", is_large, &limit, NULL }, { NULL, NULL, NULL, NULL } };
    orrery_load_options load = { .size = sizeof(load), .kinds = kinds, .kind_count = 2 };
    orrery_resolver *resolver = NULL, *again = NULL;
    char *saved = NULL;

    REQUIRE(orrery_resolver_range(&by_k, &all, 1, NULL, &kinds[0].resolver) == ORRERY_OK);
    all.link = "dbs/d/colls/s";
    REQUIRE(orrery_resolver_range(&by_k, &all, 1, NULL, &kinds[1].resolver) == ORRERY_OK);
    REQUIRE(orrery_resolver_kinds(NULL, kinds, 2, &resolver) == ORRERY_OK);
    for (int i = 0; i < 2; i++) {
        SAYS(placed(resolver, "{\"k\":500}"), "l");
        SAYS(placed(resolver, "{\"k\":5}"), "s");
        through_state(&resolver, &load);
    }
    CHECK(orrery_resolver_save(resolver, &saved) == ORRERY_OK);
    CHECK(orrery_resolver_load(saved, ORRERY_TEXT, NULL, &again) == ORRERY_ESTATE);
    orrery_free(saved);
    for (int i = 0; i < 2; i++)
        orrery_resolver_unref(kinds[i].resolver);
    orrery_resolver_unref(resolver);
}

TEST(a_spillover_resolver_is_saved_with_its_template_and_loaded_with_a_client)
{
    static const char *const procedures[] = { "{\"id\":\"p\",\"body\":\"function () {}\"}", NULL };
    orrery_settings settings = { .size = sizeof(settings), .endpoint = "http://127.0.0.1:1", .key = "a2V5" };
    orrery_template shape = { .size = sizeof(shape),
                              .container = { .size = sizeof(shape.container),
                                             .partition_key = { "/a", "/b" },
                                             .indexing_policy = "{\"indexingMode\":\"none\"}",
                                             .default_ttl = -1 },
                              .throughput_max = 4000,
                              .procedures = procedures };
    orrery_spillover_options options = { .size = sizeof(options),
                                         .prefix = "part",
                                         .fill_factor = 0.25,
                                         .check_seconds = -1,
                                         .quota_kb = 1 << 20,
                                         .collection = &shape };
    orrery_load_options load = { .size = sizeof(load) };
    orrery_resolver *resolver = NULL, *again = NULL;
    char *saved = NULL;

    REQUIRE(orrery_open(&settings, &load.client) == ORRERY_OK);
    REQUIRE(orrery_resolver_spillover(load.client, "dbs/d", &options, &resolver) == ORRERY_OK);
    through_state(&resolver, &load);
    REQUIRE(orrery_resolver_save(resolver, &saved) == ORRERY_OK);
    SAYS(
        saved,
        "{\"Type\":\"Spillover\",\"Version\":1,\"DatabaseLink\":\"dbs/"
        "d\",\"Prefix\":\"part\",\"FillFactor\":0.25,"
        "\"CheckSeconds\":-1,\"QuotaInKb\":1048576,\"Collection\":{\"DefaultTimeToLive\":-1,\"Throughput\":0,"
        "\"ThroughputMax\":4000,\"PartitionKey\":[\"/a\",\"/b\"],"
        "\"IndexingPolicy\":\"{\\\"indexingMode\\\":\\\"none\\\"}\","
        "\"Procedures\":[\"{\\\"id\\\":\\\"p\\\",\\\"body\\\":\\\"function () {}\\\"}\"]}}");
    CHECK(orrery_resolver_load(saved, ORRERY_TEXT, NULL, &again) == ORRERY_ESTATE);
    orrery_free(saved);
    orrery_resolver_unref(resolver);
    orrery_close(load.client);
}
