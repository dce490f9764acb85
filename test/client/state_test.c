/* test/client/state_test.c - resolvers to JSON and back: ours, the .NET SDK's, what is refused. */
#include <stdlib.h>
#include <unistd.h>

#include "resolver.h"
#include "test.h"

static const char *const links[] = { "dbs/db/colls/a", "dbs/db/colls/b \303\274 \"" };

static orrery_status load(const char *json, const orrery_load_options *options, orrery_resolver **resolver)
{
    orrery_status status = orrery_resolver_load(json, ORRERY_TEXT, options, resolver);

    CHECK((*resolver != NULL) == (status == ORRERY_OK));
    return status;
}

/* Saves, loads and saves again: the texts are the same. Frees the resolver. */
static void check_round_trip(orrery_resolver *resolver, const char *wanted)
{
    orrery_resolver *again = NULL;
    char *first = NULL, *second = NULL;

    REQUIRE(orrery_resolver_save(resolver, &first) == ORRERY_OK);
    CHECK(!wanted || strcmp(first, wanted) == 0);
    CHECK(load(first, NULL, &again) == ORRERY_OK);
    CHECK(orrery_resolver_save(again, &second) == ORRERY_OK && strcmp(first, second) == 0);
    orrery_resolver_unref(resolver);
    orrery_resolver_unref(again);
    orrery_free(first);
    orrery_free(second);
}

static orrery_resolver *hash_resolver(const orrery_hash_options *options)
{
    const char *names[] = { "tenant", "user" };
    orrery_extractor extractor = {
        .size = sizeof(extractor), .properties = names, .property_count = 2, .separator = "/"
    };
    orrery_resolver *resolver = NULL;

    CHECK(orrery_resolver_hash(&extractor, links, 2, options, &resolver) == ORRERY_OK);
    return resolver;
}

static orrery_resolver *range_resolver(orrery_key low, orrery_key high)
{
    orrery_extractor extractor = { .size = sizeof(extractor), .property = "at", .as = low.type };
    orrery_range ranges[] = { { low, high, "dbs/db/colls/a" }, { low, low, "dbs/db/colls/b" } };
    orrery_resolver *resolver = NULL;

    CHECK(orrery_resolver_range(&extractor, ranges, 2, NULL, &resolver) == ORRERY_OK);
    return resolver;
}

TEST(a_saved_resolver_comes_back_as_it_was)
{
    orrery_hash first = orrery_hash_md5;
    orrery_hash_options md5 = { .size = sizeof(md5), &first, 7 };

    first.msb_first = 1;
    check_round_trip(
        hash_resolver(NULL),
        "{\"Type\":\"Hash\",\"Version\":1,\"PartitionKeySeparator\":\"/\",\"PartitionKeyPropertyNames\":"
        "[\"tenant\",\"user\"],\"NumberOfVirtualNodesPerCollection\":128,\"HashAlgorithm\":\"murmur3\","
        "\"MostSignificantByteFirst\":false,\"CollectionLinks\":"
        "[\"dbs/db/colls/a\",\"dbs/db/colls/b \303\274 \\\"\"]}");
    check_round_trip(hash_resolver(&md5), NULL);
    check_round_trip(range_resolver(orrery_key_number(-0.5), orrery_key_number(1e300)), NULL);
    check_round_trip(range_resolver(orrery_key_text("a,b"), orrery_key_text("z")), NULL);
    check_round_trip(
        range_resolver(orrery_key_time(-1), orrery_key_time(951868800000)),
        "{\"Type\":\"Range\",\"Version\":1,\"PartitionKeyType\":\"Time\",\"PartitionKeyPropertyName\":\"at\","
        "\"RangeType\":\"Time\",\"PartitionMap\":[{\"Link\":\"dbs/db/colls/a\",\"Low\":"
        "\"1969-12-31T23:59:59.999Z\",\"High\":\"2000-03-01T00:00:00.000Z\"},{\"Link\":\"dbs/db/colls/b\","
        "\"Low\":\"1969-12-31T23:59:59.999Z\",\"High\":\"1969-12-31T23:59:59.999Z\"}]}");
}

TEST(resolvers_of_resolvers_come_back_too)
{
    orrery_kind kinds[] = { { .name = "order" }, { .name = NULL } };
    orrery_resolver *resolver = NULL, *transition = NULL;

    kinds[0].resolver = hash_resolver(NULL);
    kinds[1].resolver = range_resolver(orrery_key_number(1), orrery_key_number(2));
    REQUIRE(orrery_resolver_kinds("type", kinds, 2, &resolver) == ORRERY_OK);
    REQUIRE(orrery_resolver_transition(resolver, kinds[0].resolver, ORRERY_READ_NEXT, &transition) ==
            ORRERY_OK);
    orrery_resolver_unref(kinds[0].resolver);
    orrery_resolver_unref(kinds[1].resolver);
    orrery_resolver_unref(resolver);
    check_round_trip(transition, NULL);
}

/* Where "999" lies of the two collections of name-2-5 in the recorded placements: in the first. */
static bool places_999(orrery_resolver *resolver, const char *link)
{
    orrery_key key = orrery_key_text("999");
    orrery_links *found = NULL;
    bool is_there = orrery_resolve_create(resolver, &key, &found) == ORRERY_OK &&
                    strcmp(orrery_links_at(found, 0), link) == 0;

    orrery_links_free(found);
    return is_there;
}

TEST(the_state_of_a_net_hash_resolver_is_read)
{
    static const char *const json = "{\"PartitionKeyExtractor\":null,\"PartitionKeyPropertyName\":\"id\","
                                    "\"CollectionLinks\":[\"dbs/db/colls/coll0\",\"dbs/db/colls/coll1\"],"
                                    "\"NumberOfVirtualNodesPerCollection\":5}";
    orrery_load_options murmur3 = { .size = sizeof(murmur3), .hash = &orrery_hash_murmur3 };
    orrery_resolver *resolver = NULL;
    char *saved = NULL;

    REQUIRE(load(json, &murmur3, &resolver) == ORRERY_OK);
    CHECK(places_999(resolver, "dbs/db/colls/coll0"));
    orrery_resolver_unref(resolver);
    REQUIRE(load(json, NULL, &resolver) == ORRERY_OK); /* MD5, on .NET's own ring */
    CHECK(orrery_resolver_save(resolver, &saved) == ORRERY_OK && strstr(saved, "\"HashAlgorithm\":\"md5\""));
    CHECK(strstr(saved, "\"NumberOfVirtualNodesPerCollection\":5"));
    orrery_free(saved);
    orrery_resolver_unref(resolver);
}

TEST(the_state_of_a_net_range_resolver_is_read_by_the_type_one_says)
{
    static const char *const json = "{\"PartitionKeyPropertyName\":\"n\",\"PartitionMap\":"
                                    "{\"0,400\":\"dbs/db/colls/a\",\"401,800\":\"dbs/db/colls/b\"}}";
    orrery_load_options numbers = { .size = sizeof(numbers), .range_type = ORRERY_KEY_NUMBER };
    orrery_key fifty = orrery_key_number(50), text = orrery_key_text("50");
    orrery_resolver *resolver = NULL;
    orrery_links *found = NULL;

    REQUIRE(load(json, &numbers, &resolver) == ORRERY_OK);
    CHECK(orrery_resolve_create(resolver, &fifty, &found) == ORRERY_OK);
    CHECK(found && strcmp(orrery_links_at(found, 0), "dbs/db/colls/a") == 0);
    orrery_links_free(found);
    orrery_resolver_unref(resolver);
    REQUIRE(load(json, NULL, &resolver) == ORRERY_OK);
    CHECK(orrery_resolve_create(resolver, &text, &found) == ORRERY_OK);
    CHECK(found && strcmp(orrery_links_at(found, 0), "dbs/db/colls/b") == 0);
    orrery_links_free(found);
    orrery_resolver_unref(resolver);
}

TEST(state_that_makes_no_sense_is_refused)
{
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"Type\":\"Hash\"}",
        "{\"Type\":\"Unknown\",\"CollectionLinks\":[]}",
        "{\"PartitionKeyPropertyName\":\"a\",\"CollectionLinks\":[]}",
        "{\"PartitionKeyPropertyName\":\"a\",\"CollectionLinks\":[\"x\"]}",
        "{\"PartitionKeyPropertyName\":\"a\",\"CollectionLinks\":[1]}",
        "{\"PartitionKeyPropertyName\":\"a\",\"CollectionLinks\":[\"dbs/a/colls/b\\u0000\"]}",
        "{\"PartitionKeyPropertyName\":\"a\",\"CollectionLinks\":{\"0\":\"dbs/a/colls/b\"}}",
        "{\"CollectionLinks\":[\"dbs/a/colls/b\"]}",
        "{\"PartitionKeyPropertyName\":\"a\",\"CollectionLinks\":[\"dbs/a/colls/b\"],\"Version\":2}",
        "{\"PartitionKeyPropertyName\":\"a\",\"CollectionLinks\":[\"dbs/a/colls/"
        "b\"],\"HashAlgorithm\":\"crc\"}",
        "{\"PartitionKeyPropertyName\":\"a\",\"CollectionLinks\":[\"dbs/a/colls/b\"],\"HashAlgorithm\":1}",
        "{\"PartitionKeyPropertyName\":\"a\",\"CollectionLinks\":[\"dbs/a/colls/b\"],"
        "\"NumberOfVirtualNodesPerCollection\":0}",
        "{\"PartitionKeyPropertyName\":\"a\",\"CollectionLinks\":[\"dbs/a/colls/b\"],"
        "\"NumberOfVirtualNodesPerCollection\":1e9}",
        "{\"PartitionKeyPropertyName\":\"a\",\"PartitionMap\":{\"a,b,c\":\"dbs/a/colls/b\"}}",
        "{\"PartitionKeyPropertyName\":\"a\",\"PartitionMap\":{\"abc\":\"dbs/a/colls/b\"}}",
        "{\"PartitionKeyPropertyName\":\"a\",\"PartitionMap\":{\"b,a\":\"dbs/a/colls/b\"}}",
        "{\"PartitionKeyPropertyName\":\"a\",\"PartitionMap\":[{\"Low\":1,\"High\":2,\"Link\":\"x\"}]}",
        "{\"PartitionKeyPropertyName\":\"a\",\"RangeType\":\"Number\",\"PartitionMap\":[{\"Low\":\"1\","
        "\"Link\":\"x\"}]}",
        "{\"PartitionKeyPropertyName\":\"a\",\"RangeType\":\"Time\",\"PartitionMap\":[{\"Low\":\"soon\","
        "\"Link\":\"x\"}]}",
        "{\"PartitionKeyPropertyName\":\"a\",\"RangeType\":\"Bool\",\"PartitionMap\":[]}",
        "{\"Type\":\"Transition\",\"ReadMode\":\"Sometimes\",\"CurrentResolver\":{},\"NextResolver\":{}}",
        "{\"Type\":\"Transition\",\"ReadMode\":\"ReadBoth\",\"CurrentResolver\":{},\"NextResolver\":{}}",
        "{\"Type\":\"Kinds\",\"Kinds\":[]}",
        "{\"Type\":\"Kinds\",\"Kinds\":[{\"Name\":\"a\"}]}",
    };
    orrery_resolver *resolver = NULL;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(load(bad[i], NULL, &resolver) == ORRERY_ESTATE);
}

static orrery_status extract(void *context, orrery_value document, orrery_held_key *key)
{
    (void)document;
    return orrery_held_key_put(key, context);
}

TEST(what_was_found_by_a_function_cannot_be_saved_but_its_state_can_be_read)
{
    orrery_key fixed = orrery_key_text("999");
    orrery_extractor function = { .size = sizeof(function), .extract = extract, .context = &fixed };
    orrery_load_options with_it = { .size = sizeof(with_it), .extractor = &function };
    orrery_resolver *resolver = NULL;
    orrery_links *found = NULL;
    char *json = NULL;

    REQUIRE(load("{\"CollectionLinks\":[\"dbs/a/colls/b\"],\"PartitionKeyPropertyName\":null}", &with_it,
                 &resolver) == ORRERY_OK);
    CHECK(orrery_resolver_save(resolver, &json) == ORRERY_ESTATE && !json);
    CHECK(orrery_resolve_document(resolver, "{}", ORRERY_TEXT, &found) == ORRERY_OK);
    orrery_links_free(found);
    orrery_resolver_unref(resolver);
}

TEST(a_file_keeps_the_state_and_what_was_there_is_exchanged_at_once)
{
    orrery_resolver *resolver = hash_resolver(NULL), *again = NULL;
    char path[512];

    snprintf(path, sizeof(path), "%s/state.json", test_directory());
    CHECK(orrery_resolver_load_file(path, NULL, &again) == ORRERY_ENOTFOUND && !again);
    CHECK(orrery_resolver_save_file(resolver, path) == ORRERY_OK);
    CHECK(orrery_resolver_save_file(resolver, path) == ORRERY_OK);
    CHECK(orrery_resolver_load_file(path, NULL, &again) == ORRERY_OK && again);
    orrery_resolver_unref(again);
    CHECK(orrery_resolver_save_file(resolver, "/nowhere/state.json") == ORRERY_EIO);
    CHECK(orrery_resolver_load_file(test_directory(), NULL, &again) == ORRERY_EIO && !again);
    orrery_resolver_unref(resolver);
}
