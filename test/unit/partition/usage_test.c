/* test/unit/partition/usage_test.c - the counts of a container's items are exact, whatever happens. */
#include "items.h"
#include "keys/keys.h"

#define SHORT_LIVED                                                                             \
    "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':50,'uniqueKeyPolicy':" \
    "{'uniqueKeys':[{'paths':['/u']}]}}"

enum { STEPS = 600, IDS = 12, KEYS = 3 };

static const char *document_of(struct rig *rig, uint64_t id, uint64_t key, uint64_t seed)
{
    struct buf text;

    buf_init(&text, &rig->op->arena);
    buf_printf(&text, "{'id':'%d','pk':'%d','u':%d,'ttl':%d,'t':'%.*s'}", (int)id, (int)key, (int)(seed % 40),
               (int)(1 + seed % 20), (int)(seed % 30), "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    return arena_text(&rig->op->arena, buf_as_slice(&text));
}

static const char *text_of(struct rig *rig, const char *fmt, uint64_t number)
{
    struct buf text;

    buf_init(&text, &rig->op->arena);
    buf_printf(&text, fmt[0] == '[' ? "['%d']" : "%d", (int)number);
    return arena_text(&rig->op->arena, buf_as_slice(&text));
}

/* Most of these may fail, and it does not matter: what is counted is what is there. */
static enum status one_step(struct rig *rig, const struct container *container)
{
    uint64_t seed = env_random_u64(rig->op->env), id = seed / 8 % IDS, key = seed / 256 % KEYS, removed = 0;
    const char *document = document_of(rig, id, key, seed >> 20);
    struct commit_stamp stamp;
    struct record item;

    switch (seed % 8) {
    case 0:
        return item_delete(rig, container, text_of(rig, "[", key), text_of(rig, "", id));
    case 1:
        return item_replace(rig, container, text_of(rig, "", id), document, &item);
    case 2:
        rig_advance_ms(rig, (int64_t)(seed >> 20) % 5000);
        return rig_sweep(rig, &removed);
    case 3:
        if (seed >> 60 == 0)
            return partition_clear(rig->op, container,
                                   key_of_header(rig->op, container, text_of(rig, "[", key)), &stamp);
        faulty_fail(&rig->controls, FAULTY_WRITE, 1 + (seed >> 62)); /* the next write, or one soon after */
        rig->controls.fail_after = seed >> 61 & 1;
        return ST_OK;
    default:
        return item_create(rig, container, document, &item);
    }
}

static struct container *restart(struct rig *rig)
{
    struct container *container;

    rig_reopen(rig);
    rig->database = catalog_find_database(rig->catalog, slice_of("db"));
    container = catalog_find_container(rig->catalog, rig->database, slice_of("c"));
    rig->made[rig->made_count++] = container;
    return container;
}

TEST(the_counts_are_those_of_a_full_count_after_failures_expiry_and_restarts_too)
{
    struct container *container;
    struct rows documents;
    size_t most = 0;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, SHORT_LIVED);
    for (int i = 0; i < STEPS; i++) {
        (void)!one_step(&rig, container);
        env_advance_ms(rig.op->env, 300); /* long enough for another try at opening the store */
        documents = rows_of_kind(&rig, container, KEY_DOCUMENT);
        if (store_is_writable(rig.store))
            REQUIRE(container_counts(container, &documents));
        most = documents.count > most ? documents.count : most;
        if (i % 100 == 99) {
            rig.controls.fail_call = 0;
            container = restart(&rig);
            REQUIRE(container_counts(container, &documents));
        }
    }
    CHECK(most > 5);
    rig_close(&rig);
}

/* A container's head as the first versions wrote it. */
TEST(a_container_that_was_begun_without_counts_goes_on_without)
{
    struct container *container;
    struct bucket_usage usage;
    struct mutation mutation;
    uint8_t bytes[HEAD_BYTES];
    struct record item;
    struct head head;
    struct rig rig;
    struct rows heads;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    REQUIRE(item_create(&rig, container, "{'id':'1','pk':'a'}", &item) == ST_OK);
    heads = rows_of_kind(&rig, container, KEY_HEAD);
    REQUIRE(heads.count == 1 && head_decode(rig.op, heads.row[0].value, &head) == ST_OK);
    head.counts = false;
    mutation = (struct mutation){ arena_copy(&rig.op->arena, heads.row[0].key),
                                  slice_make(bytes, head_encode(&head, bytes)) };
    REQUIRE(rig.memory->ops->write(rig.op, rig.memory, &mutation, 1, true) == ST_OK);
    container = restart(&rig);
    CHECK(!bucket_usage(container->bucket, &usage));
    REQUIRE(item_create(&rig, container, "{'id':'2','pk':'a'}", &item) == ST_OK);
    CHECK(!bucket_usage(container->bucket, &usage));
    heads = rows_of_kind(&rig, container, KEY_HEAD);
    CHECK(heads.count == 1 && heads.row[0].value.size == 32);
    rig_close(&rig);
}
