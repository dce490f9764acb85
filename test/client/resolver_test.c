/* test/client/resolver_test.c - resolvers of one's own, kinds, transitions, composite keys. */
#include <stdlib.h>

#include "resolver.h"
#include "test.h"

static const orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };

/* One collection for everything; it counts how often it was destroyed. */
struct single {
    const char *link;
    int links_added, destroyed;
};

static orrery_status single_key(void *self, orrery_value document, orrery_held_key *key)
{
    orrery_key fixed = orrery_key_text("any");

    (void)self, (void)document;
    return orrery_held_key_put(key, &fixed);
}

static orrery_status single_links(void *self, const orrery_key *key, orrery_links *links)
{
    struct single *single = self;
    orrery_status status = ORRERY_OK;
    char link[64];

    (void)key;
    for (int i = 0; i < single->links_added && status == ORRERY_OK; i++) {
        snprintf(link, sizeof(link), "%s%d", single->link, i);
        status = orrery_links_add(links, link);
    }
    return status;
}

static void single_destroy(void *self)
{
    ((struct single *)self)->destroyed++;
}

static orrery_resolver *single_new(struct single *single)
{
    static const orrery_resolver_vtbl calls = {
        .size = sizeof(calls), single_key, single_links, single_links, NULL, single_destroy
    };
    orrery_resolver *resolver = NULL;

    CHECK(orrery_resolver_custom(&calls, single, &resolver) == ORRERY_OK);
    return resolver;
}

static bool link_is(const orrery_links *links, size_t index, const char *wanted)
{
    const char *link = orrery_links_at(links, index);

    return link && strcmp(link, wanted) == 0;
}

/* The collection that the document is created in. */
static bool created_in(orrery_resolver *resolver, const char *json, const char *link)
{
    orrery_links *links = NULL;
    bool is_there = orrery_resolve_document(resolver, json, ORRERY_TEXT, &links) == ORRERY_OK &&
                    orrery_links_count(links) == 1 && link_is(links, 0, link);

    orrery_links_free(links);
    return is_there;
}

static orrery_status refusal(orrery_resolver *resolver, const char *json)
{
    orrery_links *links = NULL;
    orrery_status status = orrery_resolve_document(resolver, json, ORRERY_TEXT, &links);

    CHECK((links != NULL) == (status == ORRERY_OK));
    orrery_links_free(links);
    return status;
}

TEST(a_resolver_of_ones_own_is_asked_and_destroyed_with_its_last_reference)
{
    struct single single = { "dbs/a/colls/b", 1, 0 };
    orrery_resolver *resolver = single_new(&single);

    CHECK(created_in(resolver, "{}", "dbs/a/colls/b0"));
    orrery_resolver_unref(orrery_resolver_ref(resolver));
    CHECK(single.destroyed == 0);
    orrery_resolver_unref(resolver);
    CHECK(single.destroyed == 1);
    orrery_resolver_unref(NULL);
}

TEST(a_resolver_that_does_not_name_exactly_one_collection_is_told)
{
    struct single none = { "dbs/a/colls/b", 0, 0 }, two = { "dbs/a/colls/b", 2, 0 };
    orrery_resolver *nowhere = single_new(&none), *twice = single_new(&two);

    CHECK(refusal(nowhere, "{}") == ORRERY_ECALLBACK);
    CHECK(refusal(twice, "{}") == ORRERY_ECALLBACK);
    orrery_resolver_unref(nowhere);
    orrery_resolver_unref(twice);
}

TEST(a_resolver_with_a_call_missing_is_refused)
{
    orrery_resolver_vtbl calls = { .size = sizeof(calls),
                                   .partition_key = single_key,
                                   .for_create = single_links };
    orrery_resolver *resolver = NULL;

    CHECK(orrery_resolver_custom(&calls, NULL, &resolver) == ORRERY_EINVAL && !resolver);
    CHECK(orrery_resolver_custom(NULL, NULL, &resolver) == ORRERY_EINVAL && !resolver);
}

TEST(what_is_no_object_has_no_key)
{
    const char *links[] = { "dbs/a/colls/b" };
    orrery_resolver *resolver = NULL;

    REQUIRE(orrery_resolver_hash(&by_id, links, 1, NULL, &resolver) == ORRERY_OK);
    CHECK(refusal(resolver, "{\"id\":") == ORRERY_EJSON);
    CHECK(refusal(resolver, "[]") == ORRERY_EINVAL);
    CHECK(refusal(resolver, "{\"id\":1}") == ORRERY_EKEYTYPE);
    CHECK(refusal(resolver, "{\"id\":[\"a\"]}") == ORRERY_EKEYTYPE);
    CHECK(refusal(resolver, "{\"id\":null}") == ORRERY_ENOKEY);
    CHECK(refusal(resolver, "{}") == ORRERY_ENOKEY);
    CHECK(refusal(resolver, "{\"id\":\"\"}") == ORRERY_OK);
    orrery_resolver_unref(resolver);
}

/* The key that a document has, as text. */
static bool key_is(const orrery_extractor *extractor, const char *json, const char *wanted)
{
    const char *links[] = { "dbs/a/colls/b" };
    orrery_resolver *resolver = NULL;
    orrery_held_key *key = NULL;
    bool is_it = false;

    CHECK(orrery_resolver_hash(extractor, links, 1, NULL, &resolver) == ORRERY_OK);
    if (orrery_resolver_key(resolver, json, ORRERY_TEXT, &key) == ORRERY_OK) {
        const orrery_key *found = orrery_held_key_get(key);

        is_it = wanted
                    ? found->type == ORRERY_KEY_TEXT && slice_is(slice_make(found->text, found->size), wanted)
                    : found->type == ORRERY_KEY_NONE;
    }
    orrery_held_key_free(key);
    orrery_resolver_unref(resolver);
    return is_it;
}

TEST(a_property_is_one_flat_name_and_numbers_are_spelled_as_javascript_does)
{
    orrery_extractor dotted = { .size = sizeof(dotted), .property = "a.b" };
    orrery_extractor spelled = { .size = sizeof(spelled), .property = "n", .as = ORRERY_KEY_TEXT };

    CHECK(key_is(&dotted, "{\"a\":{\"b\":\"wrong\"},\"a.b\":\"right\"}", "right"));
    CHECK(key_is(&spelled, "{\"n\":1e21}", "1e+21"));
    CHECK(key_is(&spelled, "{\"n\":0.1}", "0.1"));
    CHECK(key_is(&spelled, "{\"n\":9007199254740993}", "9007199254740993"));
    CHECK(key_is(&spelled, "{\"n\":\"text\"}", "text"));
}

TEST(a_composite_key_joins_the_texts_of_its_properties)
{
    const char *names[] = { "tenant", "user" };
    orrery_extractor joined = { .size = sizeof(joined), .properties = names, .property_count = 2 };

    CHECK(key_is(&joined, "{\"tenant\":\"contoso\",\"user\":7}", "contoso-7"));
    CHECK(key_is(&joined, "{\"tenant\":\"contoso\"}", NULL));
    joined.separator = "";
    CHECK(key_is(&joined, "{\"tenant\":\"contoso\",\"user\":\"ann\"}", "contosoann"));
}

static orrery_resolver *hash_of(const char *first, const char *second)
{
    const char *links[] = { first, second };
    orrery_resolver *resolver = NULL;

    CHECK(orrery_resolver_hash(&by_id, links, 2, NULL, &resolver) == ORRERY_OK);
    return resolver;
}

static bool reads(orrery_resolver *resolver, const orrery_key *key, const char *const *links, size_t count)
{
    orrery_links *read = NULL;
    bool is_same =
        orrery_resolve_read(resolver, key, &read) == ORRERY_OK && orrery_links_count(read) == count;

    for (size_t i = 0; i < count && is_same; i++)
        is_same = link_is(read, i, links[i]);
    orrery_links_free(read);
    return is_same;
}

TEST(kinds_of_document_have_a_resolver_each)
{
    orrery_extractor by_size = { .size = sizeof(by_size), .property = "n" };
    orrery_range numbers = { orrery_key_number(0), orrery_key_number(9), "dbs/a/colls/numbers" };
    struct single single = { "dbs/a/colls/rest", 1, 0 };
    orrery_kind kinds[] = { { .name = "order" }, { .name = "user" }, { .name = NULL } };
    orrery_resolver *resolver = NULL;
    orrery_key pair[] = { orrery_key_text("order"), orrery_key_number(5) },
               of_kind = orrery_key_of_kind(pair);
    orrery_key text = orrery_key_text("x"), unknown[] = { orrery_key_text("nobody"), text };
    orrery_key of_unknown = orrery_key_of_kind(unknown);

    REQUIRE(orrery_resolver_range(&by_size, &numbers, 1, NULL, &kinds[0].resolver) == ORRERY_OK);
    kinds[1].resolver = hash_of("dbs/a/colls/u0", "dbs/a/colls/u0");
    kinds[2].resolver = single_new(&single);
    REQUIRE(orrery_resolver_kinds("type", kinds, 3, &resolver) == ORRERY_OK);
    for (int i = 0; i < 3; i++)
        orrery_resolver_unref(kinds[i].resolver);
    CHECK(created_in(resolver, "{\"type\":\"order\",\"n\":3}", "dbs/a/colls/numbers"));
    CHECK(created_in(resolver, "{\"type\":\"user\",\"id\":\"ann\"}", "dbs/a/colls/u0"));
    CHECK(created_in(resolver, "{\"type\":\"other\"}", "dbs/a/colls/rest0"));
    CHECK(created_in(resolver, "{}", "dbs/a/colls/rest0"));
    CHECK(refusal(resolver, "{\"type\":\"order\",\"n\":10}") == ORRERY_ENORANGE);
    CHECK(reads(resolver, &of_kind, (const char *[]){ "dbs/a/colls/numbers" }, 1));
    CHECK(reads(resolver, &text, (const char *[]){ "dbs/a/colls/u0", "dbs/a/colls/rest0" }, 2));
    CHECK(reads(resolver, NULL,
                (const char *[]){ "dbs/a/colls/numbers", "dbs/a/colls/u0", "dbs/a/colls/rest0" }, 3));
    CHECK(!reads(resolver, &of_unknown, NULL, 0));
    orrery_resolver_unref(resolver);
    CHECK(single.destroyed == 1);
}

TEST(a_transition_creates_in_the_next_and_reads_as_its_mode_says)
{
    orrery_resolver *current = hash_of("dbs/a/colls/c0", "dbs/a/colls/c1"), *transition = NULL;
    orrery_resolver *next = hash_of("/dbs/a/colls/c1/", "dbs/a/colls/c2");
    const char *both[] = { "dbs/a/colls/c0", "dbs/a/colls/c1", "dbs/a/colls/c2" };
    orrery_links *links = NULL;

    REQUIRE(orrery_resolver_transition(current, next, ORRERY_READ_BOTH, &transition) == ORRERY_OK);
    CHECK(reads(transition, NULL, both, 3));
    CHECK(!created_in(transition, "{\"id\":\"x\"}", both[0]));
    orrery_resolver_unref(transition);
    REQUIRE(orrery_resolver_transition(current, next, ORRERY_READ_CURRENT, &transition) == ORRERY_OK);
    CHECK(reads(transition, NULL, both, 2));
    orrery_resolver_unref(transition);
    REQUIRE(orrery_resolver_transition(current, next, ORRERY_READ_NEXT, &transition) == ORRERY_OK);
    CHECK(reads(transition, NULL, (const char *[]){ "/dbs/a/colls/c1/", "dbs/a/colls/c2" }, 2));
    orrery_resolver_unref(transition);
    REQUIRE(orrery_resolver_transition(current, next, ORRERY_READ_NONE, &transition) == ORRERY_OK);
    CHECK(orrery_resolve_read(transition, NULL, &links) == ORRERY_EMIGRATING && !links);
    CHECK(refusal(transition, "{\"id\":\"x\"}") == ORRERY_OK);
    orrery_resolver_unref(transition);
    orrery_resolver_unref(current);
    orrery_resolver_unref(next);
}

TEST(a_held_key_keeps_copies)
{
    char text[] = "abc";
    orrery_key items[] = { orrery_key_text(text), orrery_key_number(1) }, list = orrery_key_list(items, 2);
    orrery_key deep[6] = { list };
    orrery_held_key *held = NULL;

    REQUIRE(held_key_new(&held) == ORRERY_OK);
    REQUIRE(orrery_held_key_put(held, &list) == ORRERY_OK);
    text[0] = 'x';
    items[1] = orrery_key_number(2);
    CHECK(strcmp(orrery_held_key_get(held)->items[0].text, "abc") == 0);
    CHECK(orrery_held_key_get(held)->items[1].number == 1);
    for (int i = 1; i < 6; i++)
        deep[i] = orrery_key_list(&deep[i - 1], 1);
    CHECK(orrery_held_key_put(held, &deep[5]) == ORRERY_EINVAL);
    orrery_held_key_free(held);
}
