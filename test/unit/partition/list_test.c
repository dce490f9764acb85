/* test/unit/partition/list_test.c - pages: none skipped, none repeated, only what is in scope, whatever the limits. */
#include <stdlib.h>

#include "base/limits.h"
#include "items.h"
#include "partition/scan.h"

#define LEVELS "{'id':'l','partitionKey':{'paths':['/a','/b'],'kind':'MultiHash'}}"

enum { SEEN_MAX = 1000 };

/* What a walk over all pages has met: the n of each document. */
struct walk {
    int seen[SEEN_MAX];
    size_t count, pages;
    bool rising; /* numbers rose from item to item */
};

static void note(struct walk *walk, const struct partition_page *page)
{
    static uint64_t last;

    for (size_t i = 0; i < page->count && walk->count < SEEN_MAX; i++) {
        walk->rising &= walk->count == 0 || page->item[i].number > last;
        last = page->item[i].number;
        walk->seen[walk->count++] = (int)json_int(json_get(page->item[i].document, "n"));
    }
    walk->pages++;
}

/* limit 0: another one for each page. */
static struct walk walk_pages(struct rig *rig, const struct container *container,
                              struct partition_scope scope, size_t limit)
{
    struct walk walk = { .rising = true };
    struct partition_page page = { .more = true };

    while (page.more && walk.pages < 3000) {
        uint64_t after = page.last;
        size_t wanted = limit ? limit : 1 + test_random() % 9;

        CHECK(partition_list(rig->op, container, &scope, after, wanted, &page) == ST_OK);
        CHECK(page.count <= wanted);
        note(&walk, &page);
    }
    return walk;
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Every n from 0 to count - 1 that `wanted` takes, each once. */
static bool is_exactly(struct walk *walk, int count, bool (*wanted)(int n))
{
    size_t expected = 0;

    qsort(walk->seen, walk->count, sizeof(int), by_value);
    for (int n = 0; n < count; n++) {
        if (!wanted(n))
            continue;
        if (expected == walk->count || walk->seen[expected] != n)
            return false;
        expected++;
    }
    return expected == walk->count;
}

static void fill(struct rig *rig, const struct container *container, const char *format, int count)
{
    for (int n = 0; n < count; n++) {
        struct record item;
        char document[100];

        snprintf(document, sizeof(document), format, n, n % 5, n % 3, n);
        CHECK(item_create(rig, container, document, &item) == ST_OK);
    }
}

#define DOCUMENT "{'id':'%d','pk':'%d','x':%d,'n':%d}"
#define DOCUMENT_OF_LEVELS "{'id':'%d','a':'%d','b':%d,'n':%d}"

static bool any(int n)
{
    (void)n;
    return true;
}

static bool a_is_two(int n)
{
    return n % 5 == 2;
}

static bool a_is_two_and_b_is_one(int n)
{
    return n % 5 == 2 && n % 3 == 1;
}

/* Promise 4. */
TEST(pages_of_any_size_neither_skip_nor_repeat_an_item)
{
    enum { COUNT = 200 };
    struct container *container;
    struct walk walk;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    fill(&rig, container, DOCUMENT, COUNT);
    for (size_t limit = 0; limit < 40; limit++) {
        walk = walk_pages(&rig, container, (struct partition_scope){ 0 }, limit);
        CHECK(walk.rising && is_exactly(&walk, COUNT, any));
        CHECK(!limit || walk.pages == (COUNT + limit - 1) / limit);
    }
    rig_close(&rig);
}

/* One item comes, the one before it goes, and one that stays is replaced. */
static void disturb(struct rig *rig, const struct container *container, int round)
{
    char document[60], key[16], id[16];
    struct record item;

    snprintf(document, sizeof(document), "{'id':'o%d','pk':'%d','n':-1}", round, round % 5);
    CHECK(item_create(rig, container, document, &item) == ST_OK);
    CHECK(item_replace(rig, container, "1", "{'id':'1','pk':'1','n':1}", &item) == ST_OK);
    if (round == 0)
        return;
    snprintf(id, sizeof(id), "o%d", round - 1);
    snprintf(key, sizeof(key), "['%d']", (round - 1) % 5);
    CHECK(item_delete(rig, container, key, id) == ST_OK);
}

TEST(items_that_stay_are_met_once_though_others_come_and_go_between_pages)
{
    enum { COUNT = 100 };
    struct partition_page page = { .more = true };
    struct partition_scope scope = { 0 };
    struct walk walk = { 0 };
    struct container *container;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    fill(&rig, container, DOCUMENT, COUNT);
    while (page.more && walk.pages < 100) {
        CHECK(partition_list(rig.op, container, &scope, page.last, 7, &page) == ST_OK);
        for (size_t i = 0; i < page.count; i++)
            if (json_int(json_get(page.item[i].document, "n")) >= 0)
                walk.seen[walk.count++] = (int)json_int(json_get(page.item[i].document, "n"));
        disturb(&rig, container, (int)walk.pages++);
    }
    CHECK(walk.pages > 10 && is_exactly(&walk, COUNT, any));
    rig_close(&rig);
}

TEST(what_one_page_holds_whole_is_in_order_of_creation)
{
    struct container *container;
    struct walk walk;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    fill(&rig, container, DOCUMENT, 50);
    walk = walk_pages(&rig, container, (struct partition_scope){ 0 }, 50);
    CHECK(walk.count == 50 && walk.pages == 1 && !walk.rising); /* numbers follow the key's hash */
    for (int n = 0; n < 50; n++)
        CHECK(walk.seen[n] == n);
    rig_close(&rig);
}

TEST(pages_of_a_small_container_are_in_order_of_creation_though_items_come_and_go)
{
    enum { COUNT = 100 };
    struct partition_page page = { .more = true };
    struct partition_scope scope = { 0 };
    struct container *container;
    int next = 0, pages = 0;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    fill(&rig, container, DOCUMENT, COUNT);
    while (page.more && pages < 100) {
        CHECK(partition_list_by_creation(rig.op, container, &scope, page.last, 7, &page) == ST_OK);
        CHECK(page.count <= 7);
        for (size_t i = 0; i < page.count; i++) {
            int n = (int)json_int(json_get(page.item[i].document, "n"));

            CHECK(n == -1 || n == next++); /* -1: one of those that come and go */
        }
        disturb(&rig, container, pages++);
    }
    CHECK(next == COUNT && pages > 10);
    rig_close(&rig);
}

TEST(a_list_that_began_in_order_of_creation_goes_on_so_when_the_container_has_grown)
{
    struct partition_scope scope = { 0 };
    struct container *container;
    struct partition_page page;
    struct record item;
    char *large = malloc(1100000);
    int next = 0;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    fill(&rig, container, DOCUMENT, 20);
    CHECK(partition_list_by_creation(rig.op, container, &scope, 0, 5, &page) == ST_OK && page.more);
    for (int i = 0; i < 5; i++) {
        int size = snprintf(large, 1100000, "{'id':'large%d','pk':'%d','n':%d,'text':'%01000000d'}", i, i,
                            20 + i, 0);

        CHECK(size > 1000000);
        CHECK(item_create(&rig, container, large, &item) == ST_OK);
    }
    for (next = 5; page.more && next < 100;) {
        CHECK(partition_list_by_creation(rig.op, container, &scope, page.last, 5, &page) == ST_OK);
        for (size_t i = 0; i < page.count; i++)
            CHECK(json_int(json_get(page.item[i].document, "n")) == next++);
    }
    CHECK(next == 25);
    free(large);
    rig_close(&rig);
}

TEST(an_empty_container_has_one_empty_page)
{
    struct walk walk;
    struct rig rig;

    rig_open(&rig, false);
    walk = walk_pages(&rig, rig_container(&rig, BY_PK), (struct partition_scope){ 0 }, 5);
    CHECK(walk.count == 0 && walk.pages == 1);
    rig_close(&rig);
}

TEST(one_key_lists_its_logical_partition_and_no_other)
{
    static const char *const definitions[] = { BY_PK, "{'id':'v1','partitionKey':{'paths':['/pk']}}" };
    struct rig rig;

    rig_open(&rig, false);
    for (size_t i = 0; i < 2; i++) {
        struct container *container = rig_container(&rig, definitions[i]);
        struct partition_scope scope = { .key = *key_of_header(rig.op, container, "['2']") };
        struct walk walk;

        fill(&rig, container, DOCUMENT, 100);
        for (size_t limit = 0; limit < 8; limit++) {
            walk = walk_pages(&rig, container, scope, limit);
            CHECK(is_exactly(&walk, 100, a_is_two));
        }
        scope.key = *key_of_header(rig.op, container, "['no such key']");
        CHECK(walk_pages(&rig, container, scope, 3).count == 0);
    }
    rig_close(&rig);
}

TEST(the_first_levels_of_a_hierarchical_key_list_all_that_lies_below)
{
    struct container *container;
    struct partition_scope scope = { 0 };
    struct walk walk;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, LEVELS);
    fill(&rig, container, DOCUMENT_OF_LEVELS, 120);
    for (size_t limit = 0; limit < 8; limit++) {
        scope.key = *key_of_header(rig.op, container, "['2']");
        walk = walk_pages(&rig, container, scope, limit);
        CHECK(is_exactly(&walk, 120, a_is_two));
        scope.key = *key_of_header(rig.op, container, "['2',1]");
        walk = walk_pages(&rig, container, scope, limit);
        CHECK(is_exactly(&walk, 120, a_is_two_and_b_is_one));
        scope.key = (struct placed_key){ 0 };
        walk = walk_pages(&rig, container, scope, limit);
        CHECK(is_exactly(&walk, 120, any));
    }
    rig_close(&rig);
}

/* Cuts the key space at every key: the parts hold everything, once. */
TEST(ranges_of_keys_that_meet_hold_every_item_once)
{
    struct epk cut[5];
    struct container *container;
    struct walk all = { 0 };
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    fill(&rig, container, DOCUMENT, 100);
    for (int i = 0; i < 5; i++) {
        char key[8];

        snprintf(key, sizeof(key), "['%d']", i);
        cut[i] = key_of_header(rig.op, container, key)->epk;
        for (int k = i; k > 0 && slice_compare(epk_slice(&cut[k - 1]), epk_slice(&cut[k])) > 0; k--) {
            struct epk swap = cut[k];

            cut[k] = cut[k - 1];
            cut[k - 1] = swap;
        }
    }
    for (int i = 0; i <= 5; i++) {
        struct partition_scope scope = { .min = i ? cut[i - 1] : (struct epk){ 0 },
                                         .max = i < 5 ? cut[i] : (struct epk){ 0 } };
        struct walk walk = walk_pages(&rig, container, scope, 3);

        CHECK(walk.count == (i ? 20 : 0)); /* below the least key there is nothing */
        memcpy(all.seen + all.count, walk.seen, walk.count * sizeof(int));
        all.count += walk.count;
    }
    CHECK(is_exactly(&all, 100, any));
    rig_close(&rig);
}

/* A page ends before 4 MB, but one item always fits. */
TEST(a_page_is_bounded_in_bytes_too)
{
    enum { COUNT = 7, SIZE = 900 * 1024 };
    struct partition_scope scope = { 0 };
    struct partition_page page = { .more = true };
    struct container *container;
    size_t count = 0, pages = 0;
    char *document;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, BY_PK);
    document = arena_alloc(&rig.op->arena, SIZE + 64);
    for (int n = 0; n < COUNT; n++) {
        struct record item;
        int start = snprintf(document, 64, "{'id':'%d','n':%d,'s':'", n, n);

        memset(document + start, 'x', SIZE);
        memcpy(document + start + SIZE, "'}", 3);
        CHECK(item_create(&rig, container, document, &item) == ST_OK);
    }
    while (page.more && pages < 10) {
        size_t bytes = 0;

        CHECK(partition_list(rig.op, container, &scope, page.last, 100, &page) == ST_OK);
        for (size_t i = 0; i < page.count; i++)
            bytes += page.item[i].stored.size;
        CHECK(bytes <= PAGE_BYTES_MAX && page.count > 0);
        count += page.count;
        pages++;
    }
    CHECK(count == COUNT && pages == 2);
    rig_close(&rig);
}

/* Bounds at every hash of the second level's first byte: what lies between shares the first level. */
TEST(parts_of_one_first_level_hold_its_items_once_and_look_at_few_others)
{
    enum { COUNT = 300, PARTS = 8 };
    struct walk all = { 0 };
    struct container *container;
    uint64_t looked_at = 0;
    struct epk tenant;
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, LEVELS);
    for (int n = 0; n < COUNT; n++) {
        struct record item;
        char document[80];

        snprintf(document, sizeof(document), "{'id':'%d','a':'x','b':%d,'n':%d}", n, n, n);
        CHECK(item_create(&rig, container, document, &item) == ST_OK);
    }
    tenant = key_of_header(rig.op, container, "['x']")->epk;
    for (int i = 0; i < PARTS; i++) {
        struct partition_scope scope = { .min = tenant, .max = tenant };
        struct partition_scan scan = { 0 };
        struct record item;
        bool found = true;

        scope.min.bytes[scope.min.size++] = (uint8_t)(i * 0x40 / PARTS);
        scope.max.bytes[scope.max.size++] = (uint8_t)((i + 1) * 0x40 / PARTS);
        CHECK(partition_scan_open(rig.op, container, &scope, &scan) == ST_OK);
        while (partition_scan_next(rig.op, &scan, &item, &found) == ST_OK && found)
            all.seen[all.count++] = (int)json_int(json_get(item.document, "n"));
        looked_at += scan.scanned;
        partition_scan_close(&scan);
    }
    CHECK(is_exactly(&all, COUNT, any));
    CHECK(looked_at < 2 * COUNT); /* and not all of them for each part */
    rig_close(&rig);
}

enum { TENANTS_MAX = 2000 };

/* Two first levels whose numbers begin alike: only the whole key tells which comes first. */
static void find_alike(struct rig *rig, const struct container *container, int tenant[2], struct epk epk[2])
{
    static struct epk tried[TENANTS_MAX];

    for (int n = 0; n < TENANTS_MAX; n++) {
        char key[16];

        snprintf(key, sizeof(key), "['%d']", n);
        tried[n] = key_of_header(rig->op, container, key)->epk;
        for (int k = 0; k < n; k++)
            if (epk_number_bits(EPK_MULTI, 2, &tried[k]) == epk_number_bits(EPK_MULTI, 2, &tried[n])) {
                bool rises = slice_compare(epk_slice(&tried[k]), epk_slice(&tried[n])) < 0;

                tenant[!rises] = k, epk[!rises] = tried[k];
                tenant[rises] = n, epk[rises] = tried[n];
                return;
            }
    }
    CHECK(!"no two of so many share twelve bits");
}

TEST(bounds_inside_two_first_levels_hold_every_item_once_though_their_numbers_begin_alike)
{
    enum { COUNT = 200 };
    struct walk all = { 0 };
    struct container *container;
    struct epk cut[4] = { 0 };
    int tenant[2] = { 0 };
    struct rig rig;

    rig_open(&rig, false);
    container = rig_container(&rig, LEVELS);
    find_alike(&rig, container, tenant, cut + 1);
    for (int n = 0; n < COUNT; n++) {
        struct record item;
        char document[80];

        snprintf(document, sizeof(document), "{'id':'%d','a':'%d','b':%d,'n':%d}", n, tenant[n % 2], n, n);
        CHECK(item_create(&rig, container, document, &item) == ST_OK);
    }
    cut[1].bytes[cut[1].size++] = 0x20;
    cut[2].bytes[cut[2].size++] = 0x10;
    for (int i = 0; i < 3; i++) {
        struct partition_scope scope = { .min = cut[i], .max = cut[i + 1] };
        struct walk walk = walk_pages(&rig, container, scope, 7);

        CHECK(walk.count > 20);
        memcpy(all.seen + all.count, walk.seen, walk.count * sizeof(int));
        all.count += walk.count;
    }
    CHECK(is_exactly(&all, COUNT, any));
    rig_close(&rig);
}
