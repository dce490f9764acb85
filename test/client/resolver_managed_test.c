/* test/client/resolver_managed_test.c - collections made to a template, and spillover, against a made-up server. */
#include <stdlib.h>

#include "fake_remote.h"
#include "resolver_managed.h"
#include "test.h"

static const orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };

static size_t collections(const struct fake *fake)
{
    size_t count = 0;

    for (struct fake_collection *one = fake->collections; one; one = one->next)
        count++;
    return count;
}

static bool reads(orrery_resolver *resolver, const char *const *links, size_t count)
{
    orrery_links *found = NULL;
    bool is_same =
        orrery_resolve_read(resolver, NULL, &found) == ORRERY_OK && orrery_links_count(found) == count;

    for (size_t i = 0; i < count && is_same; i++)
        is_same = strcmp(orrery_links_at(found, i), links[i]) == 0;
    orrery_links_free(found);
    return is_same;
}

TEST(collections_that_are_missing_are_made_with_their_scripts_and_others_left_alone)
{
    const char *procedures[] = { "{\"id\":\"a\"}", "{\"id\":\"b\"}", NULL },
               *functions[] = { "{\"id\":\"f\"}", NULL };
    orrery_template shape = { .size = sizeof(shape),
                              .container = { .size = sizeof(shape.container) },
                              .procedures = procedures,
                              .functions = functions };
    orrery_managed_options options = { .size = sizeof(options), .count = 2, .collection = &shape };
    struct fake fake = { .now_ms = 1 };
    orrery_resolver *resolver = NULL;

    REQUIRE(managed_with(fake_remote(&fake), "dbs/db", &by_id, &options, &resolver) == ORRERY_OK);
    orrery_resolver_unref(resolver);
    options.count = 3;
    options.collection = NULL;
    REQUIRE(managed_with(fake_remote(&fake), "/dbs/db/", &by_id, &options, &resolver) == ORRERY_OK);
    CHECK(reads(resolver,
                (const char *[]){ "dbs/db/colls/ManagedHashCollection.0",
                                  "dbs/db/colls/ManagedHashCollection.1",
                                  "dbs/db/colls/ManagedHashCollection.2" },
                3));
    CHECK(fake_find(&fake, "dbs/db/colls/ManagedHashCollection.1")->scripts == 3);
    CHECK(fake_find(&fake, "dbs/db/colls/ManagedHashCollection.2")->scripts == 0);
    orrery_resolver_unref(resolver);
    fake_free(&fake);
}

TEST(a_ring_of_self_links_is_made_where_one_asks_for_it)
{
    orrery_managed_options options = { .size = sizeof(options), .count = 2, .prefix = "p", .self_links = 1 };
    struct fake fake = { .now_ms = 1 };
    orrery_resolver *resolver = NULL;

    REQUIRE(managed_with(fake_remote(&fake), "dbs/db", &by_id, &options, &resolver) == ORRERY_OK);
    CHECK(reads(resolver, (const char *[]){ "dbs/rid/colls/p0/", "dbs/rid/colls/p1/" }, 2));
    orrery_resolver_unref(resolver);
    fake_free(&fake);
}

TEST(a_managed_arrangement_that_makes_no_sense_is_refused)
{
    orrery_managed_options options = { .size = sizeof(options), .count = 0 };
    struct fake fake = { .now_ms = 1 };
    orrery_resolver *resolver = NULL;

    CHECK(managed_with(fake_remote(&fake), "dbs/db", &by_id, &options, &resolver) == ORRERY_EINVAL &&
          !resolver);
    options.count = 1;
    CHECK(managed_with(fake_remote(&fake), "dbs/db/colls/x", &by_id, &options, &resolver) == ORRERY_ELINK &&
          !resolver);
    CHECK(managed_with(fake_remote(&fake), "dbs/db", NULL, &options, &resolver) == ORRERY_EINVAL &&
          !resolver);
    fake_free(&fake);
}

/* Where the next document goes. */
static bool goes_to(orrery_resolver *resolver, const char *link)
{
    orrery_links *found = NULL;
    bool is_there = orrery_resolve_document(resolver, "{}", ORRERY_TEXT, &found) == ORRERY_OK &&
                    strcmp(orrery_links_at(found, 0), link) == 0;

    orrery_links_free(found);
    return is_there;
}

static void set_usage(struct fake *fake, const char *link, const char *quota, const char *usage)
{
    struct fake_collection *collection = fake_find(fake, link);

    snprintf(collection->quota, sizeof(collection->quota), "%s", quota);
    snprintf(collection->usage, sizeof(collection->usage), "%s", usage);
}

TEST(documents_spill_over_into_the_next_collection_when_the_last_is_full)
{
    orrery_spillover_options options = { .size = sizeof(options), .check_seconds = 60 };
    struct fake fake = { .now_ms = 1 };
    orrery_resolver *resolver = NULL;

    REQUIRE(spillover_with(fake_remote(&fake), "dbs/db", &options, &resolver) == ORRERY_OK);
    CHECK(reads(resolver, NULL, 0) && collections(&fake) == 0); /* reads make nothing */
    CHECK(goes_to(resolver, "dbs/db/colls/Collection.0"));
    set_usage(&fake, "dbs/db/colls/Collection.0", "documentsSize=1;collectionSize=1000;",
              "documentsSize=9;collectionSize=899;");
    fake.now_ms += 61 * 1000;
    CHECK(goes_to(resolver, "dbs/db/colls/Collection.0"));
    set_usage(&fake, "dbs/db/colls/Collection.0", "collectionSize=1000;", "collectionSize=900");
    CHECK(goes_to(resolver, "dbs/db/colls/Collection.0")); /* it was looked at not long ago */
    fake.now_ms += 61 * 1000;
    CHECK(goes_to(resolver, "dbs/db/colls/Collection.1"));
    fake.now_ms += 61 * 1000;
    CHECK(goes_to(resolver, "dbs/db/colls/Collection.1") && collections(&fake) == 2);
    CHECK(reads(resolver, (const char *[]){ "dbs/db/colls/Collection.0", "dbs/db/colls/Collection.1" }, 2));
    orrery_resolver_unref(resolver);
    fake_free(&fake);
}

TEST(a_server_without_a_quota_is_measured_by_the_callers)
{
    orrery_spillover_options options = {
        .size = sizeof(options), .check_seconds = -1, .quota_kb = 100, .fill_factor = 0.5
    };
    struct fake fake = { .now_ms = 1 };
    orrery_resolver *resolver = NULL;

    REQUIRE(spillover_with(fake_remote(&fake), "dbs/db", &options, &resolver) == ORRERY_OK);
    CHECK(goes_to(resolver, "dbs/db/colls/Collection.0"));
    set_usage(&fake, "dbs/db/colls/Collection.0", "documentsSize=-1;collectionSize=-1;", "documentsSize=49;");
    CHECK(goes_to(resolver, "dbs/db/colls/Collection.0"));
    set_usage(&fake, "dbs/db/colls/Collection.0", "documentsSize=-1;collectionSize=-1;", "documentsSize=50;");
    CHECK(goes_to(resolver, "dbs/db/colls/Collection.1"));
    orrery_resolver_unref(resolver);
    fake_free(&fake);
}

TEST(a_resolver_that_looks_again_and_again_keeps_only_what_it_found_last)
{
    orrery_spillover_options options = { .size = sizeof(options), .check_seconds = -1 };
    orrery_template shape = { .size = sizeof(shape),
                              .container = { .size = sizeof(shape.container), .partition_key = { "/id" } } };
    struct fake fake = { .now_ms = 1 };
    struct remote remote = fake_remote(&fake);
    orrery_resolver *resolver = NULL;
    char id[32];

    for (int i = 0; i < 200; i++) {
        snprintf(id, sizeof(id), "Collection.%d", i);
        CHECK(collection_make(&remote, "dbs/db", id, &shape) == ORRERY_OK);
    }
    REQUIRE(spillover_with(remote, "dbs/db", &options, &resolver) == ORRERY_OK);
    for (int i = 0; i < 3000; i++)
        REQUIRE(goes_to(resolver, "dbs/db/colls/Collection.199"));
    orrery_resolver_unref(resolver);
    fake_free(&fake);
}

TEST(what_others_have_made_is_found_in_the_order_of_its_numbers)
{
    orrery_template shape = { .size = sizeof(shape),
                              .container = { .size = sizeof(shape.container), .partition_key = { "/id" } } };
    const char *ids[] = { "Collection.10", "Collection.9", "Collection.x", "other" };
    struct fake fake = { .now_ms = 1 };
    struct remote remote = fake_remote(&fake);
    orrery_resolver *resolver = NULL;

    for (int i = 0; i < 4; i++)
        CHECK(collection_make(&remote, "dbs/db", ids[i], &shape) == ORRERY_OK);
    REQUIRE(spillover_with(remote, "dbs/db", NULL, &resolver) == ORRERY_OK);
    CHECK(reads(resolver, (const char *[]){ "dbs/db/colls/Collection.9", "dbs/db/colls/Collection.10" }, 2));
    CHECK(goes_to(resolver, "dbs/db/colls/Collection.10"));
    orrery_resolver_unref(resolver);
    fake_free(&fake);
}
