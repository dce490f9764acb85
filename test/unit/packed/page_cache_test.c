/* test/unit/packed/page_cache_test.c - pages by the cache, beside the same pages read anew each time. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "keys/bytes.h"
#include "packed/run_builder.h"
#include "packed/run_reader.h"
#include "store/backend.h"
#include "test.h"

enum { TERMS = 9000, NUMBERS_EACH = 7, LONG_TERM = 1000, LONG_NUMBERS = 20000, RUNS = 2 };

/* Two runs of the same entries. One term in the middle has several pages of its own. */
struct library {
    struct backend *backend;
    struct run_facts facts[RUNS];
    struct page_cache *cache;
    struct run_reader anew, cached;
};

static uint64_t draw(uint64_t below)
{
    return test_random() % below;
}

static struct slice place_of(uint8_t out[PAGE_TERM_AT + 4], uint64_t term)
{
    put_be(out, 7, PAGE_BUCKET_BYTES);
    put_be(out + PAGE_BUCKET_BYTES, 0x1122334455667788, 8);
    put_be(out + PAGE_TERM_AT, term, 4);
    return slice_make(out, PAGE_TERM_AT + 4);
}

static void add_term(struct run_builder *builder, uint64_t term)
{
    size_t count = term == LONG_TERM ? LONG_NUMBERS : NUMBERS_EACH;
    uint64_t *number = malloc(count * sizeof(*number));
    uint8_t place[PAGE_TERM_AT + 4];

    for (size_t i = 0; i < count; i++)
        number[i] = 100 * (i + 1);
    REQUIRE(run_builder_add(test_op(), builder, place_of(place, term), number, NULL, count) == ST_OK);
    free(number);
}

static void build(struct library *library, size_t run)
{
    struct run_builder *builder = NULL;
    struct filter *filter = NULL;

    REQUIRE(run_builder_begin(test_op(), library->backend->runs, run + 1, TERMS, &builder) == ST_OK);
    for (uint64_t term = 0; term < TERMS; term++)
        add_term(builder, 2 * term);
    REQUIRE(run_builder_finish(test_op(), builder, &library->facts[run], &filter) == ST_OK);
    filter_free(filter);
}

static struct library *library_new(size_t cache_bytes)
{
    struct library *library = calloc(1, sizeof(*library));

    library->backend = memory_backend();
    for (size_t run = 0; run < RUNS; run++)
        build(library, run);
    library->cache = page_cache_new(cache_bytes);
    library->anew = (struct run_reader){ .space = library->backend->runs };
    library->cached = (struct run_reader){ .space = library->backend->runs, .cache = library->cache };
    return library;
}

static void library_free(struct library *library)
{
    run_reader_close(&library->anew);
    run_reader_close(&library->cached);
    page_cache_free(library->cache);
    library->backend->ops->close(library->backend);
    free(library);
}

static bool is_same(const struct run_page *a, const struct run_page *b)
{
    if (!a || !b)
        return a == b;
    return slice_equal(a->row.key, b->row.key) && a->page.ordinal == b->page.ordinal &&
           a->page.count == b->page.count && a->page.before == b->page.before;
}

/* Both readers begin without pages of their own, so that what the second one knows is the cache's. */
static void forget_pages(struct library *library)
{
    run_reader_close(&library->anew);
    run_reader_close(&library->cached);
}

static struct run_page *page_at(struct run_reader *reader, uint64_t run, uint64_t term, uint64_t number)
{
    uint8_t place[PAGE_TERM_AT + 4];
    struct run_page *page = NULL;

    CHECK(run_page_at(test_op(), reader, run, place_of(place, term), number, &page) == ST_OK);
    return page;
}

/* In place of the page that is given. */
static struct run_page *step(struct run_reader *reader, struct run_page *from, bool reverse)
{
    struct run_page *page = NULL;

    CHECK(run_page_neighbour(test_op(), reader, from, reverse, &page) == ST_OK);
    run_page_release(from);
    return page;
}

/* A page by a random place, then some steps from it. */
static bool look_around(struct library *library)
{
    uint64_t run = 1 + draw(RUNS), term = draw(10) ? draw(2 * TERMS + 4) : LONG_TERM;
    uint64_t number = draw(5) ? 100 * draw(9) : draw(3000000);
    struct run_page *a, *b;
    bool reverse = draw(2), same;

    forget_pages(library);
    a = page_at(&library->anew, run, term, number);
    b = page_at(&library->cached, run, term, number);
    same = is_same(a, b);
    for (uint64_t steps = draw(6); steps > 0 && a && b && same; steps--) {
        a = step(&library->anew, a, reverse);
        b = step(&library->cached, b, reverse);
        same = is_same(a, b);
    }
    run_page_release(a);
    run_page_release(b);
    return same;
}

TEST(a_page_of_the_cache_is_the_one_that_the_run_would_give)
{
    const size_t sizes[] = { 0, 200000, 400000, 100000000 };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct library *library = library_new(sizes[i]);
        bool same = true;

        CHECK(library->facts[0].pages > 10);
        for (int round = 0; round < 3000 && same; round++)
            same = look_around(library);
        CHECK(same);
        CHECK(page_cache_bytes(library->cache) <= sizes[i]);
        library_free(library);
    }
}

/* All pages of a run, by the cached reader. */
static void read_all(struct library *library, uint64_t run)
{
    struct run_page *page = page_at(&library->cached, run, 0, 0);

    while (page)
        page = step(&library->cached, page, false);
}

/* How many pages of a run the cache has. */
static size_t known(struct library *library, uint64_t run)
{
    uint8_t key[RUN_PAGE_KEY_BYTES_MAX];
    struct run_page *page = page_cache_at(library->cache, run, run_page_key(key, run, slice_of(""), 0)),
                    *next;
    size_t count = 0;

    while (page) {
        count++;
        next = page_cache_neighbour(library->cache, page, false);
        run_page_release(page);
        page = next;
    }
    return count;
}

TEST(what_was_read_once_is_found_without_the_run)
{
    struct library *library = library_new(100000000);

    read_all(library, 1);
    CHECK(known(library, 1) == library->facts[0].pages);
    CHECK(known(library, 2) == 0);
    library_free(library);
}

TEST(one_large_run_may_have_all_of_the_room)
{
    struct library *library = library_new(100000000);
    size_t bytes, pages = library->facts[0].pages;

    read_all(library, 1);
    bytes = page_cache_bytes(library->cache);
    library_free(library);

    library = library_new(bytes);
    CHECK(bytes / pages < bytes / 16); /* no page is too large to be kept */
    read_all(library, 1);
    CHECK(known(library, 1) == pages);
    read_all(library, 2);
    CHECK(page_cache_bytes(library->cache) <= bytes);
    CHECK(page_cache_bytes(library->cache) > bytes / 2);
    CHECK(known(library, 1) < pages);
    library_free(library);
}

TEST(a_dropped_run_leaves_nothing_and_takes_nobody_elses_pages)
{
    struct library *library = library_new(100000000);
    size_t bytes;

    read_all(library, 1);
    bytes = page_cache_bytes(library->cache);
    read_all(library, 2);
    page_cache_drop(library->cache, 2);
    CHECK(page_cache_bytes(library->cache) == bytes);
    CHECK(known(library, 1) == library->facts[0].pages && known(library, 2) == 0);
    library_free(library);
}

/* The page of the cache for a term; NULL: it has none that it is sure of. */
static struct run_page *known_page(struct library *library, uint64_t run, uint64_t term)
{
    uint8_t place[PAGE_TERM_AT + 4], key[RUN_PAGE_KEY_BYTES_MAX];

    return page_cache_at(library->cache, run, run_page_key(key, run, place_of(place, term), 0));
}

/* Wherever on its shelf it stands: the first page of a run, one in the midst, the last. */
TEST(a_page_that_is_asked_for_again_outlives_those_that_are_not)
{
    const uint64_t terms[] = { 1, TERMS - 1, 2 * TERMS - 3 };

    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
        struct library *library = library_new(300000);
        size_t found = 0;
        enum { ROUNDS = 40, COLD_EACH = 6 }; /* of some twenty that there is room for */

        run_page_release(page_at(&library->cached, 1, terms[i], 0));
        for (int round = 0; round < ROUNDS; round++) {
            struct run_page *page;

            for (int k = 0; k < COLD_EACH; k++) {
                forget_pages(library);
                run_page_release(page_at(&library->cached, 2, draw(2 * TERMS), 0));
            }
            page = known_page(library, 1, terms[i]);
            found += page != NULL;
            run_page_release(page);
        }
        CHECK(found == ROUNDS);
        CHECK(known(library, 2) < library->facts[1].pages);
        library_free(library);
    }
}

/* ---- several at once ---- */

enum { VISITORS = 3, VISITS = 1500, STEPS = 4 };

struct visitor {
    struct library *library;
    uint64_t chance;
    atomic_uint *wrong;
};

static uint64_t draw_for(struct visitor *visitor, uint64_t below)
{
    visitor->chance = visitor->chance * 6364136223846793005u + 1442695040888963407u;
    return (visitor->chance >> 33) % below;
}

/* All that a page has, so that one which was given back too early is noticed. */
static bool is_whole(const struct run_page *page)
{
    return slice_equal(page_place(&page->page, page->page.count - 1), run_page_last_place(page)) &&
           page->page.record[0].count > 0;
}

/* From a place to its neighbours, by the cache's pages where it has them. */
static bool visit_once(struct visitor *visitor, struct op *op, struct run_reader *reader)
{
    uint64_t run = 1 + draw_for(visitor, RUNS), steps = draw_for(visitor, STEPS);
    struct run_page *page = NULL, *next;
    uint8_t place[PAGE_TERM_AT + 4];
    bool reverse = draw_for(visitor, 2), right;

    right = run_page_at(op, reader, run, place_of(place, draw_for(visitor, 2 * TERMS)), 1, &page) == ST_OK;
    while (right && page && steps-- > 0) {
        right = run_page_neighbour(op, reader, page, reverse, &next) == ST_OK && is_whole(page) &&
                (!next || page->page.ordinal + 1 - 2 * reverse == next->page.ordinal);
        run_page_release(page);
        page = next;
    }
    run_page_release(page);
    return right;
}

static void *visit(void *context)
{
    struct visitor *visitor = context;
    struct run_reader reader = { .space = visitor->library->backend->runs, .cache = visitor->library->cache };
    struct op op;

    op_init(&op, env_system(), 1 << 20);
    for (int i = 0; i < VISITS; i++) {
        op_begin(&op, 600000);
        if (!visit_once(visitor, &op, &reader))
            atomic_fetch_add(visitor->wrong, 1);
        run_reader_close(&reader);
        if (i % 4 == 0)
            page_cache_drop(visitor->library->cache, 1 + draw_for(visitor, RUNS));
    }
    op_free(&op);
    return NULL;
}

TEST(pages_are_read_while_others_make_room_for_theirs)
{
    struct library *library = library_new(400000);
    struct visitor visitor[VISITORS];
    pthread_t thread[VISITORS];
    atomic_uint wrong = 0;

    for (size_t i = 0; i < VISITORS; i++) {
        visitor[i] = (struct visitor){ library, i + 1, &wrong };
        REQUIRE(pthread_create(&thread[i], NULL, visit, &visitor[i]) == 0);
    }
    for (size_t i = 0; i < VISITORS; i++)
        pthread_join(thread[i], NULL);
    CHECK(atomic_load(&wrong) == 0);
    CHECK(page_cache_bytes(library->cache) <= 400000);
    library_free(library);
}
