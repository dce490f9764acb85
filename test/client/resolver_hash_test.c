/* test/client/resolver_hash_test.c - the hash ring: what the SDKs recorded, and what is refused. */
#include <stdlib.h>

#include "base/encode.h"
#include "base/hash.h"
#include "hash_ring.h"
#include "resolver.h"
#include "test.h"

struct key_row {
    const char *text;
    size_t size, times;
    uint32_t hash;
};

static const struct key_row keys[] = {
#define KEY(text, size, hash) { text, size, 1, hash },
#define HUGE_KEY(text, size, times, hash)
#define ILL_FORMED_KEY(text, size, hash)
#define RAW(text, size, hash)
#include "recorded/placements.def"
#undef KEY
#undef HUGE_KEY
#undef ILL_FORMED_KEY
#undef RAW
};

static const struct key_row odd_keys[] = {
#define KEY(text, size, hash)
#define HUGE_KEY(text, size, times, hash) { text, size, times, hash },
#define ILL_FORMED_KEY(text, size, hash) { text, size, 1, hash },
#define RAW(text, size, hash) { text, size, 1, hash },
#include "recorded/placements.def"
#undef KEY
#undef HUGE_KEY
#undef ILL_FORMED_KEY
#undef RAW
};

enum { HUGE_COUNT = 3, KEY_COUNT = sizeof(keys) / sizeof(keys[0]) };

static orrery_status fnv1a(void *context, const void *bytes, size_t size, unsigned char *digest)
{
    uint32_t hash = 0x811c9dc5;

    (void)context;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619u;
    for (int i = 0; i < 4; i++)
        digest[i] = (unsigned char)(hash >> (8 * i));
    return ORRERY_OK;
}

static orrery_status seven(void *context, const void *bytes, size_t size, unsigned char *digest)
{
    (void)context, (void)bytes, (void)size;
    memcpy(digest, "\7\0\0", 4);
    return ORRERY_OK;
}

enum hash_name { MURMUR3, MD5_LAST, MD5_FIRST, FNV1A, SEVEN };

static orrery_hash hash_named(enum hash_name name)
{
    orrery_hash hash = name == MURMUR3 ? orrery_hash_murmur3 : orrery_hash_md5;

    hash.msb_first = name == MD5_FIRST;
    if (name == FNV1A)
        hash = (orrery_hash){ .size = sizeof(hash), 4, 0, NULL, fnv1a, "fnv1a" };
    if (name == SEVEN)
        hash = (orrery_hash){ .size = sizeof(hash), 4, 0, NULL, seven, "seven" };
    return hash;
}

struct config {
    const char *name;
    enum hash_name hash;
    int virtual_nodes;
    uint32_t ring_crc;
    const char *links[17];
    const char *create, *huge, *ill_formed;
};

#define LINKS(...)  \
    {               \
        __VA_ARGS__ \
    }
#define CONFIG(name, hash, nodes, crc, links, create, huge, ill_formed) \
    { name, hash, nodes, crc, links, create, huge, ill_formed },
static const struct config configs[] = {
#include "recorded/placements.def"
};
#undef CONFIG

static const orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };

static size_t links_of(const struct config *config)
{
    size_t count = 0;

    while (config->links[count])
        count++;
    return count;
}

static orrery_resolver *resolver_of(const struct config *config)
{
    orrery_hash hash = hash_named(config->hash);
    orrery_hash_options options = { .size = sizeof(options), &hash, config->virtual_nodes };
    orrery_resolver *resolver = NULL;

    CHECK(orrery_resolver_hash(&by_id, config->links, links_of(config), &options, &resolver) == ORRERY_OK);
    return resolver;
}

/* The row's text, repeated; free() it. */
static char *text_of(const struct key_row *row, orrery_key *key)
{
    char *text = malloc(row->size * row->times + 1);

    for (size_t i = 0; i < row->times; i++)
        memcpy(text + i * row->size, row->text, row->size);
    *key = (orrery_key){ .type = ORRERY_KEY_TEXT, .text = text, .size = row->size * row->times };
    return text;
}

static void check_place(orrery_resolver *resolver, const struct config *config, const struct key_row *row,
                        char digit)
{
    int place = digit <= '9' ? digit - '0' : digit - 'a' + 10;
    orrery_links *created = NULL, *read = NULL;
    orrery_key key;
    char *text = text_of(row, &key);

    REQUIRE(orrery_resolve_create(resolver, &key, &created) == ORRERY_OK);
    CHECK(strcmp(orrery_links_at(created, 0), config->links[place]) == 0);
    REQUIRE(orrery_resolve_read(resolver, &key, &read) == ORRERY_OK);
    CHECK(orrery_links_count(read) == 1 && strcmp(orrery_links_at(read, 0), config->links[place]) == 0);
    orrery_links_free(created);
    orrery_links_free(read);
    free(text);
}

TEST(every_recorded_key_lies_in_the_collection_where_the_sdks_put_it)
{
    for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
        orrery_resolver *resolver = resolver_of(&configs[i]);

        REQUIRE(strlen(configs[i].create) == KEY_COUNT);
        for (size_t k = 0; k < KEY_COUNT; k++)
            check_place(resolver, &configs[i], &keys[k], configs[i].create[k]);
        for (size_t k = 0; configs[i].huge[k]; k++)
            check_place(resolver, &configs[i], &odd_keys[k], configs[i].huge[k]);
        for (size_t k = 0; configs[i].ill_formed[k]; k++)
            check_place(resolver, &configs[i], &odd_keys[HUGE_COUNT + k], configs[i].ill_formed[k]);
        orrery_resolver_unref(resolver);
    }
}

/* Of its points, one "digest:link" a line. */
static uint32_t crc_of(const struct ring *ring)
{
    uint32_t crc = 0;

    for (size_t p = 0; p < ring->count; p++) {
        char line[2 * DIGEST_BYTES_MAX + 16], *at = line;

        for (size_t b = 0; b < ring->hash.digest_bytes; b++)
            at += snprintf(at, 3, "%02x", ring->point[p].digest[b]);
        at += snprintf(at, 16, ":%u\n", ring->point[p].link);
        crc = crc32c(crc, line, (size_t)(at - line));
    }
    return crc;
}

TEST(every_recorded_ring_has_the_same_points_in_the_same_order)
{
    for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
        struct arena *arena = &test_op()->arena;
        struct ring_shape shape = { .hash = hash_named(configs[i].hash),
                                    .virtual_nodes = configs[i].virtual_nodes };
        struct ring ring;

        REQUIRE(ring_init(&ring, arena, &shape, configs[i].links, links_of(&configs[i])) == ORRERY_OK);
        CHECK(crc_of(&ring) == configs[i].ring_crc);
    }
}

TEST(every_recorded_hash_is_the_same)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        CHECK(murmur3_32(keys[i].text, keys[i].size) == keys[i].hash);
    for (size_t i = 0; i < sizeof(odd_keys) / sizeof(odd_keys[0]); i++) {
        orrery_key key;
        char *text = text_of(&odd_keys[i], &key);

        CHECK(murmur3_32(key.text, key.size) == odd_keys[i].hash);
        free(text);
    }
}

static orrery_resolver *managed(size_t count, int virtual_nodes)
{
    orrery_hash_options options = { .size = sizeof(options), .virtual_nodes = virtual_nodes };
    const char *links[16];
    char text[16][64];
    orrery_resolver *resolver = NULL;

    for (size_t i = 0; i < count; i++) {
        snprintf(text[i], sizeof(text[i]), "dbs/db/colls/ManagedHashCollection.%zu", i);
        links[i] = text[i];
    }
    CHECK(orrery_resolver_hash(&by_id, links, count, &options, &resolver) == ORRERY_OK);
    return resolver;
}

/* Where a recorded key lies, by the number behind the last dot. */
static int place_of(orrery_resolver *resolver, const struct key_row *row)
{
    orrery_key key = { .type = ORRERY_KEY_TEXT, .text = row->text, .size = row->size };
    orrery_links *links = NULL;
    int place = -1;

    if (orrery_resolve_create(resolver, &key, &links) == ORRERY_OK)
        place = (int)strtol(strrchr(orrery_links_at(links, 0), '.') + 1, NULL, 10);
    orrery_links_free(links);
    return place;
}

static void check_growth(size_t from, size_t to, int virtual_nodes, const char *moved)
{
    orrery_resolver *before = managed(from, virtual_nodes), *after = managed(to, virtual_nodes);

    for (size_t i = 0; i < KEY_COUNT; i++) {
        int old = place_of(before, &keys[i]), new = place_of(after, &keys[i]);

        CHECK((old != new) == (moved[i] == 'x'));
        CHECK(old == new || (size_t) new >= from);
    }
    orrery_resolver_unref(before);
    orrery_resolver_unref(after);
}

TEST(a_collection_more_moves_the_recorded_keys_and_only_to_itself)
{
#define GROWTH(from, to, nodes, moved) check_growth(from, to, nodes, moved);
#include "recorded/placements.def"
}

static orrery_status try_hash(const orrery_extractor *extractor, const char *const *links, size_t count,
                              int virtual_nodes)
{
    orrery_hash_options options = { .size = sizeof(options), .virtual_nodes = virtual_nodes };
    orrery_resolver *resolver = NULL;
    orrery_status status = orrery_resolver_hash(extractor, links, count, &options, &resolver);

    CHECK((resolver != NULL) == (status == ORRERY_OK));
    orrery_resolver_unref(resolver);
    return status;
}

TEST(what_is_no_link_of_a_collection_is_refused_as_the_node_sdk_refuses_it)
{
    static const char *const good[] = { "dbs/a/colls/b", "/dbs/a/colls/b/", "//dbs/a/colls/b//",
                                        "dbs//colls/b", "dbs/a b/colls/\303\274" };
    static const char *const bad[] = {
        "foo", "", "dbs/a", "dbs/a/colls", "dbs/a/colls/b/docs/c", "DBS/a/colls/b", "dbs/a/Colls/b", NULL
    };

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        CHECK(try_hash(&by_id, &good[i], 1, 0) == ORRERY_OK);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(try_hash(&by_id, &bad[i], 1, 0) == ORRERY_ELINK);
}

TEST(no_links_and_no_sensible_number_of_nodes_are_refused)
{
    const char *links[] = { "dbs/a/colls/b" };
    orrery_extractor none = { .size = sizeof(none) }, two = { .size = sizeof(two), .property = "a" };
    const char *names[] = { "b" };

    two.properties = names;
    two.property_count = 1;
    CHECK(try_hash(&by_id, links, 0, 0) == ORRERY_EINVAL);
    CHECK(try_hash(&by_id, NULL, 1, 0) == ORRERY_EINVAL);
    CHECK(try_hash(&by_id, links, 1, -1) == ORRERY_EINVAL);
    CHECK(try_hash(NULL, links, 1, 0) == ORRERY_EINVAL);
    CHECK(try_hash(&none, links, 1, 0) == ORRERY_EINVAL);
    CHECK(try_hash(&two, links, 1, 0) == ORRERY_EINVAL);
}

TEST(a_key_that_is_no_text_is_refused_and_none_reads_every_collection)
{
    orrery_resolver *resolver = managed(3, 16);
    orrery_key text = orrery_key_text("a"), pair[] = { text, text };
    orrery_key wrong[] = { orrery_key_number(0), orrery_key_bool(1), orrery_key_list(pair, 1),
                           orrery_key_range(pair), orrery_key_time(0) };
    orrery_key none[] = { orrery_key_none(), orrery_key_null() };
    orrery_links *links = NULL;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        CHECK(orrery_resolve_create(resolver, &wrong[i], &links) == ORRERY_EKEYTYPE && !links);
        CHECK(orrery_resolve_read(resolver, &wrong[i], &links) == ORRERY_EKEYTYPE && !links);
    }
    for (size_t i = 0; i < 2; i++) {
        CHECK(orrery_resolve_create(resolver, &none[i], &links) == ORRERY_ENOKEY && !links);
        CHECK(orrery_resolve_read(resolver, &none[i], &links) == ORRERY_OK && orrery_links_count(links) == 3);
        orrery_links_free(links);
    }
    CHECK(orrery_resolve_read(resolver, NULL, &links) == ORRERY_OK && orrery_links_count(links) == 3);
    CHECK(strcmp(orrery_links_at(links, 2), "dbs/db/colls/ManagedHashCollection.2") == 0);
    CHECK(!orrery_links_at(links, 3));
    orrery_links_free(links);
    orrery_resolver_unref(resolver);
}

TEST(a_link_that_repeats_counts_once)
{
    const char *links[] = { "dbs/db/colls/a", "dbs/db/colls/a", "dbs/db/colls/b" };
    orrery_resolver *resolver = NULL;
    orrery_links *all = NULL;

    REQUIRE(orrery_resolver_hash(&by_id, links, 3, NULL, &resolver) == ORRERY_OK);
    CHECK(orrery_resolve_read(resolver, NULL, &all) == ORRERY_OK && orrery_links_count(all) == 2);
    orrery_links_free(all);
    orrery_resolver_unref(resolver);
}

TEST(the_shares_of_a_ring_are_all_there_is)
{
    for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
        struct ring_shape shape = { .hash = hash_named(configs[i].hash),
                                    .virtual_nodes = configs[i].virtual_nodes };
        struct ring ring;
        double sum = 0;

        REQUIRE(ring_init(&ring, &test_op()->arena, &shape, configs[i].links, links_of(&configs[i])) ==
                ORRERY_OK);
        for (size_t link = 0; link < links_of(&configs[i]); link++)
            sum += ring_share(&ring, link);
        CHECK(sum > 0.999999 && sum < 1.000001);
    }
}

/* ---- the rings of the .NET SDK */

struct net_ring {
    const char *name;
    enum hash_name hash;
    int virtual_nodes;
    uint32_t ring_crc;
    const char *links[17];
    uint32_t seeds[17];
    const char *create;
};

#define NET_RING(name, hash, nodes, crc, links, seeds, create) \
    { name, hash, nodes, crc, links, seeds, create },
static const struct net_ring net_rings[] = {
#include "recorded/net.def"
};
#undef NET_RING

static size_t net_links_of(const struct net_ring *row)
{
    size_t count = 0;

    while (row->links[count])
        count++;
    return count;
}

static orrery_hash_options net_options(const struct net_ring *row, const orrery_hash *hash)
{
    return (orrery_hash_options){ .size = sizeof(orrery_hash_options),
                                  .hash = hash,
                                  .seeds = row->seeds,
                                  .virtual_nodes = row->virtual_nodes,
                                  .ring = ORRERY_RING_NET_SEEDS };
}

TEST(every_recorded_ring_of_the_net_sdk_has_the_same_points_and_puts_keys_where_it_did)
{
    for (size_t i = 0; i < sizeof(net_rings) / sizeof(net_rings[0]); i++) {
        const struct net_ring *row = &net_rings[i];
        orrery_hash hash = hash_named(row->hash);
        orrery_hash_options options = net_options(row, &hash);
        struct ring_shape shape;
        struct ring ring;
        double sum = 0;

        REQUIRE(ring_shape_of(&options, &shape) == ORRERY_OK);
        REQUIRE(ring_init(&ring, &test_op()->arena, &shape, row->links, net_links_of(row)) == ORRERY_OK);
        CHECK(crc_of(&ring) == row->ring_crc);
        REQUIRE(strlen(row->create) > 100 &&
                strlen(row->create) <= KEY_COUNT); /* with a hash plugged in, of the first ones */
        for (size_t k = 0; row->create[k]; k++) {
            size_t place =
                row->create[k] <= '9' ? (size_t)(row->create[k] - '0') : (size_t)(row->create[k] - 'a') + 10;
            size_t found;

            CHECK(ring_find(&ring, slice_make(keys[k].text, keys[k].size), &found) == ORRERY_OK &&
                  found == place);
        }
        for (size_t link = 0; link < net_links_of(row); link++)
            sum += ring_share(&ring, link);
        CHECK(sum > 0.999999 && sum < 1.000001);
    }
}

/* Values that programs have printed on .NET Framework, and by hand where none are known. */
TEST(the_text_hash_of_net_framework_is_that_of_either_width)
{
    CHECK(net_text_hash("", ORRERY_RING_NET64) == 371857150 &&
          net_text_hash("", ORRERY_RING_NET32) == 757602046);
    CHECK(net_text_hash("a", ORRERY_RING_NET64) == 372029373);
    CHECK(net_text_hash("abc", ORRERY_RING_NET64) == 1099313834);
    CHECK(net_text_hash("abcde", ORRERY_RING_NET32) == 398757997u);
    CHECK(net_text_hash("dbs/db/colls/coll0", ORRERY_RING_NET32) == 3150834542u);
    CHECK(net_text_hash("\xf0\x9f\x98\x80", ORRERY_RING_NET64) !=
          net_text_hash("\xef\xbf\xbd", ORRERY_RING_NET64));
}

TEST(what_net_saved_is_read_as_nets_ring_and_saves_to_the_same)
{
    static const char net[] = "{\"PartitionKeyPropertyName\":\"UserId\",\"CollectionLinks\":"
                              "[\"dbs/db/colls/coll0\",\"dbs/db/colls/coll1\"]}";
    const uint32_t seeds[] = { 0xd2b54859, 7 };
    orrery_load_options options[] = {
        { .size = sizeof(options[0]) },
        { .size = sizeof(options[0]), .ring = ORRERY_RING_NET32 },
        { .size = sizeof(options[0]), .ring = ORRERY_RING_NET_SEEDS, .seeds = seeds, .seed_count = 2 }
    };
    static const char *const rings[] = { "\"Ring\":\"net64\"", "\"Ring\":\"net32\"",
                                         "\"Seeds\":[3535095897,7]" };
    orrery_resolver *resolver = NULL, *again = NULL;

    for (size_t i = 0; i < 3; i++) {
        char *saved = NULL, *same = NULL;

        REQUIRE(orrery_resolver_load(net, ORRERY_TEXT, &options[i], &resolver) == ORRERY_OK);
        REQUIRE(orrery_resolver_save(resolver, &saved) == ORRERY_OK);
        CHECK(strstr(saved, rings[i]) && strstr(saved, "\"NumberOfVirtualNodesPerCollection\":128"));
        REQUIRE(orrery_resolver_load(saved, ORRERY_TEXT, NULL, &again) == ORRERY_OK);
        CHECK(orrery_resolver_save(again, &same) == ORRERY_OK && strcmp(saved, same) == 0);
        orrery_free(saved);
        orrery_free(same);
        orrery_resolver_unref(resolver);
        orrery_resolver_unref(again);
    }
    options[2].seed_count = 1;
    CHECK(orrery_resolver_load(net, ORRERY_TEXT, &options[2], &resolver) == ORRERY_ESTATE);
}

TEST(seeds_and_the_ring_of_seeds_belong_together)
{
    const uint32_t seeds[] = { 1 };
    const char *links[] = { "dbs/db/colls/coll0" };
    orrery_hash_options options = { .size = sizeof(options), .ring = ORRERY_RING_NET_SEEDS };
    orrery_resolver *resolver = NULL;

    CHECK(orrery_resolver_hash(&by_id, links, 1, &options, &resolver) == ORRERY_EINVAL);
    options = (orrery_hash_options){ .size = sizeof(options), .ring = ORRERY_RING_NET64, .seeds = seeds };
    CHECK(orrery_resolver_hash(&by_id, links, 1, &options, &resolver) == ORRERY_EINVAL);
    options.ring = (orrery_ring)9;
    CHECK(orrery_resolver_hash(&by_id, links, 1, &options, &resolver) == ORRERY_EINVAL);
}
