/*
 * test/client/manager_test.c - collections are added and removed while clients work and managers are killed.
 * A model knows what each document should have. At the end each lies once, where the ring wants it, as the model has it.
 */
#include <stdlib.h>

#include "fake_remote.h"
#include "manager.h"
#include "test.h"

enum { DOCUMENTS_MAX = 400, ABSENT = -1 };

static const orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };
static const char *const database = "dbs/app";

struct world {
    struct fake fake;
    orrery_resolver *resolver; /* what the clients go by */
    int value[DOCUMENTS_MAX];  /* ABSENT: never made, or deleted */
    bool deleted[DOCUMENTS_MAX];
    int count, written;
    uint64_t seed;
    int work_every;   /* requests between two actions of a client; 0: none works */
    int deletes_from; /* deletes are done to documents from this one on */
    size_t progress_calls;
};

static uint64_t next_random(struct world *world)
{
    world->seed = world->seed * 6364136223846793005u + 1442695040888963407u;
    return world->seed >> 33;
}

static orrery_status listen(void *listener, const char *database_link, orrery_resolver *resolver)
{
    struct world *world = listener;

    (void)database_link;
    orrery_resolver_unref(world->resolver);
    world->resolver = orrery_resolver_ref(resolver);
    return ORRERY_OK;
}

static void count_progress(void *context, size_t seen, size_t moved)
{
    struct world *world = context;

    CHECK(moved <= seen);
    world->progress_calls++;
}

static orrery_manager_options options_of(struct world *world, size_t count)
{
    static orrery_managed_options managed = { .size = sizeof(managed) };

    managed.count = count;
    return (orrery_manager_options){ .size = sizeof(orrery_manager_options),
                                     .extractor = &by_id,
                                     .managed = &managed,
                                     .owner = "test",
                                     .progress = count_progress,
                                     .context = world };
}

static orrery_status open_manager(struct world *world, size_t count, orrery_manager **manager)
{
    orrery_manager_options options = options_of(world, count);

    return manager_with(fake_remote(&world->fake), database, &options, listen, world, manager);
}

/* ---- clients at work: through the resolver, or by link for what names its collection */

static size_t text_of(int number, int value, char *text, size_t size)
{
    return (size_t)snprintf(text, size, "{\"id\":\"d%d\",\"value\":%d}", number, value);
}

static struct fake_item *item_in(struct fake_collection *collection, int number)
{
    char id[16];

    snprintf(id, sizeof(id), "d%d", number);
    for (struct fake_item *item = collection->items; item; item = item->next)
        if (strcmp(item->id, id) == 0)
            return item;
    return NULL;
}

static int value_of(const struct fake_item *item)
{
    return (int)strtol(strstr(item->text, "\"value\":") + 8, NULL, 10);
}

/* The copy that has the value of the model: a client that has just read it writes that one. */
static struct fake_collection *holder_of(struct world *world, int number)
{
    struct fake_collection *found = NULL;

    for (struct fake_collection *one = world->fake.collections; one; one = one->next) {
        struct fake_item *item = item_in(one, number);

        if (item && value_of(item) == world->value[number] && (!found || next_random(world) % 2))
            found = one;
    }
    return found;
}

/* Creates or upserts through the resolver. */
static void write_through(struct world *world, int number)
{
    struct remote remote = fake_remote(&world->fake);
    char text[64], id[16];
    size_t size = text_of(number, ++world->written, text, sizeof(text));
    orrery_key key = orrery_key_none();
    orrery_links *links = NULL;
    struct remote_item item;
    struct remote_answer answer;
    struct arena arena;
    orrery_status status;

    arena_init(&arena, SCRATCH_BYTES_MAX);
    snprintf(id, sizeof(id), "d%d", number);
    REQUIRE(orrery_resolve_document(world->resolver, text, size, &links) == ORRERY_OK);
    item = (struct remote_item){ .link = orrery_links_at(links, 0), .id = id, .key = &key };
    status = remote.calls->item_create(remote.self, &arena, &item, slice_make(text, size), &answer);
    if (status == ORRERY_ECONFLICT)
        status = remote.calls->item_replace(remote.self, &arena, &item, slice_make(text, size), &answer);
    CHECK(status == ORRERY_OK);
    world->value[number] = world->written;
    world->deleted[number] = false;
    orrery_links_free(links);
    arena_free(&arena);
}

static void replace_by_link(struct world *world, int number)
{
    struct remote remote = fake_remote(&world->fake);
    struct fake_collection *holder = holder_of(world, number);
    char text[64], id[16];
    orrery_key key = orrery_key_none();
    struct remote_item item;
    struct remote_answer answer;
    struct arena arena;
    size_t size;

    if (!holder)
        return;
    arena_init(&arena, SCRATCH_BYTES_MAX);
    snprintf(id, sizeof(id), "d%d", number);
    size = text_of(number, ++world->written, text, sizeof(text));
    item = (struct remote_item){ .link = holder->link, .id = id, .key = &key };
    CHECK(remote.calls->item_replace(remote.self, &arena, &item, slice_make(text, size), &answer) ==
          ORRERY_OK);
    world->value[number] = world->written;
    arena_free(&arena);
}

/* Every copy: an upsert may have left an older one where the document lay before. */
static void delete_by_link(struct world *world, int number)
{
    struct remote remote = fake_remote(&world->fake);
    orrery_key key = orrery_key_none();
    char id[16];

    if (number < world->deletes_from)
        return;
    snprintf(id, sizeof(id), "d%d", number);
    for (struct fake_collection *one = world->fake.collections; one; one = one->next) {
        struct remote_item item = { .link = one->link, .id = id, .key = &key };

        if (item_in(one, number))
            CHECK(remote.calls->item_delete(remote.self, &item) == ORRERY_OK);
    }
    world->deleted[number] = true;
}

static void work(struct fake *fake, void *context)
{
    struct world *world = context;
    int number;

    fake->now_ms += 20;
    if (world->work_every == 0 || next_random(world) % (uint64_t)world->work_every != 0)
        return;
    number = (int)(next_random(world) % (uint64_t)world->count);
    if (world->deleted[number])
        return;
    switch (next_random(world) % 6) {
    case 0:
        if (world->count < DOCUMENTS_MAX)
            write_through(world, world->count++);
        break;
    case 1:
        write_through(world, number);
        break;
    case 2:
        delete_by_link(world, number);
        break;
    default:
        replace_by_link(world, number);
    }
}

/* ---- the beginning and the end of a run */

static void world_init(struct world *world, int documents, uint64_t seed)
{
    orrery_manager *manager = NULL;

    *world = (struct world){ .seed = seed, .deletes_from = DOCUMENTS_MAX };
    for (int i = 0; i < DOCUMENTS_MAX; i++)
        world->value[i] = ABSENT;
    world->fake.now_ms = 1000000;
    REQUIRE(open_manager(world, 2, &manager) == ORRERY_OK);
    orrery_manager_close(manager);
    world->fake.is_quiet = true;
    for (int i = 0; i < documents; i++)
        write_through(world, world->count++);
    world->fake.is_quiet = false;
    world->fake.before = work;
    world->fake.context = world;
    world->fake.requests = 0;
}

static void world_free(struct world *world)
{
    orrery_resolver_unref(world->resolver);
    CHECK(world->fake.cursors == 0);
    fake_free(&world->fake);
}

/* Each document once, in its place, with what was written last; a deleted one may have come back only where a kill may have. */
static void check_document(struct world *world, int number, bool may_come_back)
{
    char text[64];
    size_t size = text_of(number, 0, text, sizeof(text));
    orrery_links *links = NULL;
    int copies = 0;

    REQUIRE(orrery_resolve_document(world->resolver, text, size, &links) == ORRERY_OK);
    for (struct fake_collection *one = world->fake.collections; one; one = one->next) {
        struct fake_item *item = item_in(one, number);

        if (!item)
            continue;
        copies++;
        CHECK(link_equal(one->link, orrery_links_at(links, 0)));
        CHECK(value_of(item) == world->value[number] ||
              (world->deleted[number] && value_of(item) < world->value[number])); /* one that came back */
        CHECK(!strstr(item->text, "_rid") && !strstr(item->text, "_etag"));
    }
    if (world->deleted[number])
        CHECK(copies == 0 || (may_come_back && copies == 1));
    else
        CHECK(copies == 1);
    orrery_links_free(links);
}

static void check_world(struct world *world, size_t collections, bool may_come_back)
{
    orrery_links *links = NULL;
    size_t found = 0;

    for (int i = 0; i < world->count; i++)
        check_document(world, i, may_come_back);
    CHECK(orrery_resolve_read(world->resolver, NULL, &links) == ORRERY_OK);
    CHECK(orrery_links_count(links) == collections);
    orrery_links_free(links);
    for (struct fake_collection *one = world->fake.collections; one; one = one->next)
        found++;
    CHECK(found == collections + 1); /* and the one that has the state */
}

TEST(a_collection_is_added_and_removed_and_only_what_must_move_does)
{
    struct world world;
    orrery_manager *manager = NULL;
    size_t moved = 0, in_third;

    world_init(&world, 300, 1);
    REQUIRE(open_manager(&world, 2, &manager) == ORRERY_OK);
    CHECK(orrery_manager_add(manager, &moved) == ORRERY_OK && orrery_manager_count(manager) == 3);
    in_third = fake_count(&world.fake, "dbs/app/colls/ManagedHashCollection.2");
    CHECK(moved == in_third && moved > 50 && moved < 130);
    check_world(&world, 3, false);
    CHECK(orrery_manager_remove(manager, &moved) == ORRERY_OK && moved == in_third);
    check_world(&world, 2, false);
    CHECK(world.progress_calls > 0);
    CHECK(orrery_manager_resize(manager, 0, &moved) == ORRERY_EINVAL);
    CHECK(orrery_manager_resize(manager, 8, &moved) == ORRERY_OK);
    check_world(&world, 8, false);
    CHECK(orrery_manager_resize(manager, 1, &moved) == ORRERY_OK);
    CHECK(orrery_manager_remove(manager, &moved) == ORRERY_EINVAL);
    check_world(&world, 1, false);
    orrery_manager_close(manager);
    world_free(&world);
}

TEST(clients_create_replace_upsert_and_delete_while_documents_move)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct world world;
        orrery_manager *manager = NULL;

        world_init(&world, 60, seed);
        world.work_every = 3;
        world.deletes_from = 0;
        REQUIRE(open_manager(&world, 2, &manager) == ORRERY_OK);
        CHECK(orrery_manager_resize(manager, seed % 2 ? 3 : 5, NULL) == ORRERY_OK);
        CHECK(orrery_manager_resize(manager, 2, NULL) == ORRERY_OK);
        world.fake.before = NULL;
        check_world(&world, 2, false);
        orrery_manager_close(manager);
        world_free(&world);
    }
}

/* The only copy of it, if that lies where creates no longer go. */
static struct fake_collection *left_behind(struct world *world, int number, orrery_links **links)
{
    struct fake_collection *found = NULL;
    char text[64];
    size_t size = text_of(number, 0, text, sizeof(text));

    CHECK(orrery_resolve_document(world->resolver, text, size, links) == ORRERY_OK);
    for (struct fake_collection *one = world->fake.collections; one; one = one->next)
        if (item_in(one, number))
            found = found || link_equal(one->link, orrery_links_at(*links, 0)) ? NULL : one;
    return found;
}

/* Deletes the last document that has not been moved, and creates it again as it was: by its resolver, in its new place. */
static void make_again(struct fake *fake, void *context)
{
    struct world *world = context;
    struct remote remote = fake_remote(fake);
    struct fake_collection *old = NULL;
    char text[64], id[16];
    orrery_key key = orrery_key_none();
    orrery_links *links = NULL;
    struct remote_answer answer;
    struct arena arena;

    fake->now_ms += 20;
    if (--world->work_every != 0)
        return;
    for (int i = world->count - 1; i >= 0 && !old; i--) {
        orrery_links_free(links);
        old = left_behind(world, i, &links);
        text_of(i, world->value[i], text, sizeof(text));
        snprintf(id, sizeof(id), "d%d", i);
    }
    arena_init(&arena, SCRATCH_BYTES_MAX);
    if (old) {
        struct remote_item here = { .link = old->link, .id = id, .key = &key },
                           there = { .link = orrery_links_at(links, 0), .key = &key };

        CHECK(remote.calls->item_delete(remote.self, &here) == ORRERY_OK);
        CHECK(remote.calls->item_create(remote.self, &arena, &there, slice_of(text), &answer) == ORRERY_OK);
    }
    orrery_links_free(links);
    arena_free(&arena);
}

/* From two collections to three, with what a client does before some of the requests. */
static void grow_beside(void (*client)(struct fake *fake, void *context), int every, int documents,
                        uint64_t seed)
{
    struct world world;
    orrery_manager *manager = NULL;

    world_init(&world, documents, seed);
    world.fake.before = client;
    world.work_every = every;
    REQUIRE(open_manager(&world, 2, &manager) == ORRERY_OK);
    CHECK(orrery_manager_resize(manager, 3, NULL) == ORRERY_OK);
    world.fake.before = NULL;
    check_world(&world, 3, false);
    orrery_manager_close(manager);
    world_free(&world);
}

TEST(a_document_that_is_deleted_and_made_again_as_it_was_stays)
{
    for (int request = 1; request < 60; request++)
        grow_beside(make_again, request, 20, 7);
}

/* Every document is written anew with every request, where it lies, for a while. */
static void hurry(struct fake *fake, void *context)
{
    struct world *world = context;
    struct remote remote = fake_remote(fake);

    fake->now_ms += 1;
    for (int i = 0; i < world->count && fake->requests < (size_t)world->work_every; i++) {
        struct fake_collection *one = fake->collections;
        char text[64], id[16];
        orrery_key key = orrery_key_none();
        struct remote_item item;
        struct remote_answer answer;
        struct arena arena;

        while (one && !(item_in(one, i) && value_of(item_in(one, i)) == world->value[i]))
            one = one->next;
        REQUIRE(one);
        arena_init(&arena, SCRATCH_BYTES_MAX);
        text_of(i, ++world->written, text, sizeof(text));
        snprintf(id, sizeof(id), "d%d", i);
        item = (struct remote_item){ .link = one->link, .id = id, .key = &key };
        CHECK(remote.calls->item_replace(remote.self, &arena, &item, slice_of(text), &answer) == ORRERY_OK);
        world->value[i] = world->written;
        arena_free(&arena);
    }
}

TEST(documents_that_change_faster_than_they_are_copied_keep_what_was_written_last)
{
    for (int requests = 100; requests <= 2000; requests += 190)
        grow_beside(hurry, requests, 40, 9);
}

/* One change of the arrangement that is cut off at a request, and one that finishes it. False: it was done before that. */
static bool cut_off_at(size_t request, enum fault fault, size_t target, int work_every)
{
    struct world world;
    orrery_manager *manager = NULL;
    orrery_status status;
    bool was_cut;

    world_init(&world, 16, request * 2 + fault);
    world.work_every = work_every;
    world.deletes_from = 12;
    world.fake.fault_at = request;
    world.fake.fault = fault;
    status = open_manager(&world, 2, &manager);
    if (status == ORRERY_OK)
        status = orrery_manager_resize(manager, target, NULL);
    orrery_manager_close(manager);
    was_cut = world.fake.is_dead;
    CHECK((status == ORRERY_OK) == !was_cut);
    fake_revive(&world.fake);
    CHECK(open_manager(&world, 2, &manager) == ORRERY_OK);
    CHECK(orrery_manager_resize(manager, target, NULL) == ORRERY_OK);
    world.fake.before = NULL;
    check_world(&world, target, true);
    orrery_manager_close(manager);
    world_free(&world);
    return was_cut;
}

TEST(a_manager_that_is_killed_at_any_request_loses_and_doubles_nothing)
{
    for (int work_every = 0; work_every <= 3; work_every += 3)
        for (size_t target = 1; target <= 3; target += 2) {
            size_t request = 1;

            while (cut_off_at(request, FAULT_REQUEST_LOST, target, work_every) &&
                   cut_off_at(request, FAULT_ANSWER_LOST, target, work_every))
                request++;
            CHECK(request > 40);
        }
}

TEST(a_manager_that_is_killed_again_and_again_gets_there)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct world world;
        orrery_manager *manager = NULL;
        orrery_status status = ORRERY_EIO;
        int kills = 0;

        world_init(&world, 80, seed);
        world.work_every = 5;
        world.deletes_from = 60;
        while (status != ORRERY_OK) {
            fake_revive(&world.fake);
            world.fake.fault_at = kills < 20 ? 5 + next_random(&world) % 80 : 0;
            world.fake.fault = next_random(&world) % 2 ? FAULT_REQUEST_LOST : FAULT_ANSWER_LOST;
            status = open_manager(&world, 2, &manager);
            if (status == ORRERY_OK)
                status = orrery_manager_resize(manager, 4, NULL);
            orrery_manager_close(manager);
            manager = NULL;
            kills++;
        }
        fake_revive(&world.fake);
        world.fake.before = NULL;
        check_world(&world, 4, true);
        world_free(&world);
    }
}

TEST(a_second_manager_is_refused_until_the_lease_is_over_and_then_the_first_is)
{
    struct world world;
    orrery_manager *first = NULL, *second = NULL;
    orrery_manager_options options;
    orrery_status status;

    world_init(&world, 200, 7);
    options = options_of(&world, 2);
    options.owner = NULL;
    REQUIRE(manager_with(fake_remote(&world.fake), database, &options, listen, &world, &first) == ORRERY_OK);
    REQUIRE(manager_with(fake_remote(&world.fake), database, &options, listen, &world, &second) == ORRERY_OK);
    CHECK(orrery_manager_begin(first, 3) == ORRERY_OK);
    CHECK(orrery_manager_step(first, 20) == ORRERY_WAIT); /* clients have their time */
    world.fake.now_ms += 5000;
    CHECK(orrery_manager_step(first, 20) == ORRERY_OK);
    CHECK(orrery_manager_step(second, 20) == ORRERY_EBUSY);
    CHECK(orrery_manager_resize(second, 4, NULL) == ORRERY_EBUSY);
    world.fake.now_ms += 61 * 1000;
    CHECK(orrery_manager_step(second, 20) ==
          ORRERY_WAIT); /* it cannot know when the first one's words were read */
    world.fake.now_ms += 5000;
    CHECK(orrery_manager_step(second, 20) == ORRERY_OK);
    do
        status = orrery_manager_step(first, 20);
    while (status == ORRERY_OK);
    CHECK(status == ORRERY_EBUSY);
    CHECK(orrery_manager_resize(second, 3, NULL) == ORRERY_OK);
    check_world(&world, 3, false);
    CHECK(orrery_manager_resize(first, 4, NULL) == ORRERY_OK);
    check_world(&world, 4, false);
    orrery_manager_close(first);
    orrery_manager_close(second);
    world_free(&world);
}

/* Few documents, so that a pass over them takes less time than a follower may go by what it knew. */
static void check_follower(uint64_t seed)
{
    struct world world;
    orrery_manager *manager = NULL;
    orrery_manager_options options;

    world_init(&world, 3, seed);
    options = options_of(&world, 2);
    REQUIRE(manager_with(fake_remote(&world.fake), database, &options, NULL, NULL, &manager) == ORRERY_OK);
    orrery_resolver_unref(world.resolver);
    world.resolver = NULL;
    REQUIRE(follow_with(fake_remote(&world.fake), database, &options, &world.resolver) == ORRERY_OK);
    for (size_t target = 3; target > 0; target--) {
        world.work_every = 3;
        CHECK(orrery_manager_resize(manager, target, NULL) == ORRERY_OK);
        world.fake.is_quiet = true;
        for (int i = 0; i < 20; i++)
            write_through(&world, world.count++);
        world.fake.is_quiet = false;
        world.work_every = 0;
        world.fake.now_ms += 2000;
        check_world(&world, target, false);
    }
    orrery_manager_close(manager);
    world_free(&world);
}

TEST(a_follower_knows_of_a_change_before_the_manager_relies_on_it)
{
    for (uint64_t seed = 1; seed <= 10; seed++)
        check_follower(seed);
}

TEST(a_create_through_a_follower_has_as_long_as_the_manager_leaves_it)
{
    struct world world;
    orrery_manager *manager = NULL;
    orrery_manager_options options;
    orrery_links *links = NULL;
    orrery_key key = orrery_key_text("k");

    world_init(&world, 3, 1);
    options = options_of(&world, 2);
    REQUIRE(manager_with(fake_remote(&world.fake), database, &options, NULL, NULL, &manager) == ORRERY_OK);
    orrery_manager_close(manager);
    orrery_resolver_unref(world.resolver);
    world.resolver = NULL;
    options.grace_ms = 20000; /* what the manager wrote down counts: 5,000 */
    REQUIRE(follow_with(fake_remote(&world.fake), database, &options, &world.resolver) == ORRERY_OK);
    world.fake.now_ms += 300; /* and each request takes its time */
    CHECK(orrery_resolve_create(world.resolver, &key, &links) == ORRERY_OK && world.fake.bound_ms <= 4700 &&
          world.fake.bound_ms > 4600);
    orrery_links_free(links);
    options.grace_ms = options.refresh_ms = 700;
    CHECK(manager_with(fake_remote(&world.fake), database, &options, NULL, NULL, &manager) == ORRERY_EINVAL);
    world_free(&world);
}

/* The manager of now leaves less time than the one whose words clients have read: it waits as long as that one would. */
TEST(a_manager_waits_as_long_as_the_state_promised_clients)
{
    struct world world;
    orrery_manager *manager = NULL;
    orrery_manager_options options;

    world_init(&world, 3, 1);
    options = options_of(&world, 2);
    REQUIRE(manager_with(fake_remote(&world.fake), database, &options, listen, &world, &manager) ==
            ORRERY_OK);
    orrery_manager_close(manager);
    options.grace_ms = 2000;
    REQUIRE(manager_with(fake_remote(&world.fake), database, &options, listen, &world, &manager) ==
            ORRERY_OK);
    CHECK(orrery_manager_begin(manager, 3) == ORRERY_OK);
    world.fake.now_ms += 4900;
    CHECK(orrery_manager_step(manager, 20) == ORRERY_WAIT);
    world.fake.now_ms += 100;
    CHECK(orrery_manager_step(manager, 20) == ORRERY_OK);
    CHECK(orrery_manager_resize(manager, 3, NULL) == ORRERY_OK);
    orrery_manager_close(manager);
    world_free(&world);
}

TEST(reads_while_documents_move_meet_each_at_least_once)
{
    struct world world;
    orrery_manager *manager = NULL;
    orrery_links *links = NULL;

    world_init(&world, 100, 13);
    REQUIRE(open_manager(&world, 2, &manager) == ORRERY_OK);
    REQUIRE(orrery_manager_resize(manager, 3, NULL) == ORRERY_OK);
    REQUIRE(orrery_manager_begin(manager, 2) == ORRERY_OK);
    CHECK(orrery_resolve_read(world.resolver, NULL, &links) == ORRERY_OK && orrery_links_count(links) == 3);
    CHECK(strcmp(orrery_links_at(links, 0), "dbs/app/colls/ManagedHashCollection.2") ==
          0); /* the one that loses them */
    orrery_links_free(links);
    orrery_manager_close(manager);
    world_free(&world);
}

/* How many of some keys lie elsewhere in the one than in the other. */
static double moved_share(orrery_resolver *before, orrery_resolver *after)
{
    enum { KEYS = 4000 };
    int moved = 0;

    for (int i = 0; i < KEYS; i++) {
        char text[32];
        orrery_links *old = NULL, *new = NULL;
        orrery_key key;

        snprintf(text, sizeof(text), "key-%d", i);
        key = orrery_key_text(text);
        if (orrery_resolve_create(before, &key, &old) == ORRERY_OK &&
            orrery_resolve_create(after, &key, &new) == ORRERY_OK)
            moved += strcmp(orrery_links_at(old, 0), orrery_links_at(new, 0)) != 0;
        orrery_links_free(old);
        orrery_links_free(new);
    }
    return (double)moved / KEYS;
}

TEST(a_collection_more_moves_at_most_1_3_times_an_even_share)
{
    for (int i = 0; i < 6; i++) {
        struct world world = { .seed = (uint64_t)i };
        orrery_hash_options few = { .size = sizeof(few),
                                    .virtual_nodes = 4 }; /* with which chance alone gives far more */
        orrery_managed_options managed = { .size = sizeof(managed), .count = 2, .hash = i % 2 ? &few : NULL };
        orrery_manager_options options = options_of(&world, 2);
        orrery_manager *manager = NULL;
        char name[32];

        options.managed = &managed;
        snprintf(name, sizeof(name), "dbs/app%d", i);
        REQUIRE(manager_with(fake_remote(&world.fake), name, &options, listen, &world, &manager) ==
                ORRERY_OK);
        for (size_t count = 3; count <= 8; count++) {
            orrery_resolver *before = orrery_resolver_ref(world.resolver);

            CHECK(orrery_manager_resize(manager, count, NULL) == ORRERY_OK);
            CHECK(moved_share(before, world.resolver) <= 1.3 / (double)count);
            orrery_resolver_unref(before);
        }
        orrery_manager_close(manager);
        world_free(&world);
    }
}

TEST(options_that_make_no_sense_are_refused)
{
    struct world world = { .seed = 1 };
    orrery_manager_options options = options_of(&world, 2);
    orrery_managed_options self_links = { .size = sizeof(self_links), .count = 2, .self_links = 1 };
    orrery_manager *manager = NULL;
    struct remote remote = fake_remote(&world.fake);

    CHECK(manager_with(remote, "dbs/app/colls/x", &options, NULL, NULL, &manager) == ORRERY_ELINK &&
          !manager);
    CHECK(manager_with(remote, database, NULL, NULL, NULL, &manager) == ORRERY_EINVAL && !manager);
    options.managed = &self_links;
    CHECK(manager_with(remote, database, &options, NULL, NULL, &manager) == ORRERY_EINVAL && !manager);
    options = options_of(&world, 2);
    options.extractor = NULL;
    CHECK(manager_with(remote, database, &options, NULL, NULL, &manager) == ORRERY_EINVAL && !manager);
    options = options_of(&world, 2);
    options.state_link = "dbs/app";
    CHECK(manager_with(remote, database, &options, NULL, NULL, &manager) == ORRERY_ELINK && !manager);
    fake_free(&world.fake);
}
