/* test/client/resolver_torture_test.c - every allocation of resolvers, their state and the manager fails in turn. */
#include <stdlib.h>
#include <unistd.h>

#include "failing_alloc.h"
#include "fake_remote.h"
#include "manager.h"
#include "test.h"

static const orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };
static const char *const links[] = { "dbs/db/colls/a", "dbs/db/colls/b" };

/* Runs it with the first allocation refused, then the second, until it needs no more. */
static void torture(orrery_status (*run)(void *context), void *context)
{
    orrery_status status;
    bool happened;
    size_t number = 0;

    do {
        failing_alloc_at(++number);
        status = run(context);
        happened = failing_alloc_happened();
        failing_alloc_at(0);
        CHECK(status == (happened ? ORRERY_ENOMEM : ORRERY_OK));
    } while (happened && number < 100000);
    CHECK(number > 1);
}

static orrery_status ask(orrery_resolver *resolver)
{
    static const char document[] = "{\"id\":\"x\",\"type\":\"order\",\"n\":5,\"tenant\":\"t\",\"user\":7}";
    orrery_links *created = NULL, *read = NULL;
    orrery_status status = orrery_resolve_document(resolver, document, ORRERY_TEXT, &created);

    if (status == ORRERY_OK)
        status = orrery_resolve_read(resolver, NULL, &read);
    orrery_links_free(created);
    orrery_links_free(read);
    return status;
}

/* Asks it, saves it, loads it again; frees it. */
static orrery_status use(orrery_resolver *resolver)
{
    orrery_resolver *again = NULL;
    char *json = NULL;
    orrery_status status = ask(resolver);

    if (status == ORRERY_OK)
        status = orrery_resolver_save(resolver, &json);
    if (status == ORRERY_OK)
        status = orrery_resolver_load(json, ORRERY_TEXT, NULL, &again);
    orrery_free(json);
    orrery_resolver_unref(resolver);
    orrery_resolver_unref(again);
    return status;
}

static orrery_status make_hash(orrery_resolver **resolver)
{
    const char *names[] = { "tenant", "user" };
    orrery_extractor composite = { .size = sizeof(composite), .properties = names, .property_count = 2 };

    return orrery_resolver_hash(&composite, links, 2, NULL, resolver);
}

static orrery_status make_ranges(orrery_resolver **resolver)
{
    orrery_extractor by_number = { .size = sizeof(by_number), .property = "n" };
    orrery_range range = { orrery_key_number(0), orrery_key_number(9), links[0] };

    return orrery_resolver_range(&by_number, &range, 1, NULL, resolver);
}

static orrery_status run_hash(void *context)
{
    orrery_resolver *resolver = NULL;
    orrery_status status = make_hash(&resolver);

    (void)context;
    return status == ORRERY_OK ? use(resolver) : status;
}

static orrery_status run_lookup(void *context)
{
    orrery_lookup rows[] = { { orrery_key_text("x"), links[0] }, { orrery_key_text("y"), links[1] } };
    orrery_resolver *resolver = NULL;
    orrery_status status = orrery_resolver_lookup(&by_id, rows, 2, NULL, &resolver);

    (void)context;
    return status == ORRERY_OK ? use(resolver) : status;
}

static orrery_status run_kinds(void *context)
{
    orrery_kind kinds[] = { { .name = "order" }, { .name = NULL } };
    orrery_resolver *resolver = NULL, *transition = NULL;
    orrery_status status = make_ranges(&kinds[0].resolver);

    (void)context;
    if (status == ORRERY_OK)
        status = make_hash(&kinds[1].resolver);
    if (status == ORRERY_OK)
        status = orrery_resolver_kinds("type", kinds, 2, &resolver);
    if (status == ORRERY_OK)
        status = orrery_resolver_transition(resolver, resolver, ORRERY_READ_BOTH, &transition);
    orrery_resolver_unref(kinds[0].resolver);
    orrery_resolver_unref(kinds[1].resolver);
    orrery_resolver_unref(resolver);
    return status == ORRERY_OK ? use(transition) : status;
}

static orrery_status run_file(void *path)
{
    orrery_resolver *resolver = NULL, *again = NULL;
    orrery_status status = make_hash(&resolver);

    if (status == ORRERY_OK)
        status = orrery_resolver_save_file(resolver, path);
    if (status == ORRERY_OK)
        status = orrery_resolver_load_file(path, NULL, &again);
    orrery_resolver_unref(resolver);
    orrery_resolver_unref(again);
    return status;
}

TEST(a_resolver_that_finds_no_memory_says_so_and_leaks_nothing)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/state", test_directory());
    torture(run_hash, NULL);
    torture(run_lookup, NULL);
    torture(run_kinds, NULL);
    torture(run_file, path);
}

static orrery_status run_spillover(void *context)
{
    struct fake fake = { .now_ms = 1 };
    orrery_resolver *resolver = NULL;
    orrery_status status = spillover_with(fake_remote(&fake), "dbs/db", NULL, &resolver);

    (void)context;
    if (status == ORRERY_OK)
        status = ask(resolver);
    orrery_resolver_unref(resolver);
    fake_free(&fake);
    return status;
}

TEST(spillover_that_finds_no_memory_says_so)
{
    torture(run_spillover, NULL);
}

static orrery_manager_options options_of(void)
{
    static const orrery_managed_options managed = { .size = sizeof(managed), .count = 2 };

    return (orrery_manager_options){
        .size = sizeof(orrery_manager_options), .extractor = &by_id, .managed = &managed, .owner = "me"
    };
}

static orrery_status resize(struct fake *fake, size_t count)
{
    orrery_manager_options options = options_of();
    orrery_manager *manager = NULL;
    orrery_status status = manager_with(fake_remote(fake), "dbs/db", &options, NULL, NULL, &manager);

    if (status == ORRERY_OK)
        status = orrery_manager_resize(manager, count, NULL);
    orrery_manager_close(manager);
    return status;
}

enum { DOCUMENTS = 12 };

static void fill(struct fake *fake)
{
    struct remote remote = fake_remote(fake);
    orrery_key key = orrery_key_none();
    struct remote_item item = { .link = "dbs/db/colls/ManagedHashCollection.0", .key = &key };
    struct remote_answer answer;
    struct arena arena;

    arena_init(&arena, SCRATCH_BYTES_MAX);
    CHECK(resize(fake, 2) == ORRERY_OK);
    for (int i = 0; i < DOCUMENTS; i++) {
        char text[32];
        int size = snprintf(text, sizeof(text), "{\"id\":\"%d\"}", i);

        CHECK(remote.calls->item_create(remote.self, &arena, &item, slice_make(text, (size_t)size),
                                        &answer) == ORRERY_OK);
    }
    arena_free(&arena);
}

static size_t count_all(struct fake *fake)
{
    size_t count = 0;

    for (struct fake_collection *one = fake->collections; one; one = one->next)
        count += strstr(one->link, "Managed") ? fake_count(fake, one->link) : 0;
    return count;
}

/* Every seventh allocation of many: each kind of them is met, and it does not take minutes. */
TEST(a_manager_that_finds_no_memory_stops_and_the_next_one_goes_on)
{
    bool happened = true;

    for (size_t number = 1; happened; number += 7) {
        struct fake fake = { .now_ms = 1 };
        orrery_status status;

        fill(&fake);
        failing_alloc_at(number);
        status = resize(&fake, 3);
        happened = failing_alloc_happened();
        failing_alloc_at(0);
        CHECK(status == (happened ? ORRERY_ENOMEM : ORRERY_OK));
        CHECK(resize(&fake, 3) == ORRERY_OK);
        CHECK(count_all(&fake) == DOCUMENTS && fake.cursors == 0);
        fake_free(&fake);
    }
}
