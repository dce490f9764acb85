/* test/unit/route/path_test.c - targets in all the encodings that clients produce. */
#include "route/path.h"
#include "test.h"

static const struct {
    const char *target, *shape, *type, *link, *raw_link, *last;
} paths[] = {
    { "/", "", "", "", "", "" },
    { "", "", "", "", "", "" },
    { "//", "", "", "", "", "" },
    { "/dbs", "dbs", "dbs", "", "", "" },
    { "/dbs/", "dbs", "dbs", "", "", "" },
    { "/dbs/a", "dbs/x", "dbs", "dbs/a", "dbs/a", "a" },
    { "/dbs/a/", "dbs/x", "dbs", "dbs/a", "dbs/a", "a" },
    { "dbs/a", "dbs/x", "dbs", "dbs/a", "dbs/a", "a" },
    { "/dbs/A", "dbs/x", "dbs", "dbs/A", "dbs/A", "A" },
    { "/dbs/a/colls", "dbs/x/colls", "colls", "dbs/a", "dbs/a", "a" },
    { "/dbs/a/colls/b/docs", "dbs/x/colls/x/docs", "docs", "dbs/a/colls/b", "dbs/a/colls/b", "b" },
    { "/dbs/a/colls/b/docs/c", "dbs/x/colls/x/docs/x", "docs", "dbs/a/colls/b/docs/c", "dbs/a/colls/b/docs/c",
      "c" },
    { "/dbs/a/colls/b/operations/c", "dbs/x/colls/x/operations/x", "colls", "dbs/a/colls/b", "dbs/a/colls/b",
      "b" },
    { "/dbs/a/colls/%62/operations/c/", "dbs/x/colls/x/operations/x", "colls", "dbs/a/colls/b",
      "dbs/a/colls/%62", "b" },
    /* spaces and letters of all kinds */
    { "/dbs/a%20b", "dbs/x", "dbs", "dbs/a b", "dbs/a%20b", "a b" },
    { "/dbs/a+b", "dbs/x", "dbs", "dbs/a+b", "dbs/a+b", "a+b" },
    { "/dbs/a%2Bb", "dbs/x", "dbs", "dbs/a+b", "dbs/a%2Bb", "a+b" },
    { "/dbs/%c3%bc", "dbs/x", "dbs", "dbs/ü", "dbs/%c3%bc", "ü" },
    { "/dbs/ü", "dbs/x", "dbs", "dbs/ü", "dbs/ü", "ü" },
    { "/dbs/%F0%9F%98%80", "dbs/x", "dbs", "dbs/😀", "dbs/%F0%9F%98%80", "😀" },
    { "/dbs/%61", "dbs/x", "dbs", "dbs/a", "dbs/%61", "a" },
    { "/dbs/%2561", "dbs/x", "dbs", "dbs/%61", "dbs/%2561", "%61" },
    { "/%64bs/a", "dbs/x", "dbs", "dbs/a", "%64bs/a", "a" },
    /* what an id may hold and a path cannot */
    { "/dbs/a%2Fb", "dbs/x", "dbs", "dbs/a/b", "dbs/a%2Fb", "a/b" },
    { "/dbs/d/colls/c/docs/a%3Fb", "dbs/x/colls/x/docs/x", "docs", "dbs/d/colls/c/docs/a?b",
      "dbs/d/colls/c/docs/a%3Fb", "a?b" },
    { "/dbs/d/colls/c/docs/a?b", "dbs/x/colls/x/docs/x", "docs", "dbs/d/colls/c/docs/a?b",
      "dbs/d/colls/c/docs/a?b", "a?b" },
    { "/dbs/d/colls/c/docs/?", "dbs/x/colls/x/docs", "docs", "dbs/d/colls/c", "dbs/d/colls/c", "c" },
    { "/dbs/a%23b", "dbs/x", "dbs", "dbs/a#b", "dbs/a%23b", "a#b" },
    { "/dbs/a#b", "dbs/x", "dbs", "dbs/a#b", "dbs/a#b", "a#b" },
    { "/dbs/a&b=c;d,e@$", "dbs/x", "dbs", "dbs/a&b=c;d,e@$", "dbs/a&b=c;d,e@$", "a&b=c;d,e@$" },
    /* queries that are queries */
    { "/addresses/?$resolveFor=x&$filter=y", "addresses", "addresses", "", "", "" },
    { "/dbs/a?api-version=1", "dbs/x", "dbs", "dbs/a", "dbs/a", "a" },
    { "/dbs/a?$partitionKeyRangeIds=0", "dbs/x", "dbs", "dbs/a", "dbs/a", "a" },
    { "/?", "", "", "", "", "" },
    /* the form that proxies are asked in */
    { "http://localhost:8081/dbs/a", "dbs/x", "dbs", "dbs/a", "dbs/a", "a" },
    { "https://localhost/dbs", "dbs", "dbs", "", "", "" },
    { "http://h", "", "", "", "", "" },
    { "http://h/", "", "", "", "", "" },
    { "http://", "", "", "", "", "" },
    { "https://", "", "", "", "", "" },
    { "http:///dbs", "dbs", "dbs", "", "", "" },
};

static bool same(struct slice got, const char *expected, const char *what)
{
    if (slice_is(got, expected))
        return true;
    printf("    %s: %.*s\n", what, SLICE_ARGS(got));
    return false;
}

/* Promise 2. */
TEST(a_path_means_the_same_in_every_encoding)
{
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct path path;
        enum status st = path_parse(test_op(), slice_of(paths[i].target), &path);

        if (st != ST_OK || !same(path.shape, paths[i].shape, "shape") ||
            !same(path.type, paths[i].type, "type") || !same(path.link, paths[i].link, "link") ||
            !same(path.raw_link, paths[i].raw_link, "raw link") || !same(path.last, paths[i].last, "last"))
            test_failed(__FILE__, __LINE__, paths[i].target);
    }
}

TEST(a_path_that_is_not_encoded_correctly_is_refused)
{
    static const char *const targets[] = { "/dbs/%",  "/dbs/%2", "/dbs/%zz",
                                           "/dbs/a%", "/%/a",    "/dbs/a%2/colls" };

    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        struct path path;

        CHECK(path_parse(test_op(), slice_of(targets[i]), &path) == ST_BAD_HEADER);
    }
}

TEST(a_path_has_at_most_ten_segments)
{
    struct path path;

    CHECK(path_parse(test_op(), slice_of("/1/2/3/4/5/6/7/8/9/10"), &path) == ST_OK && path.count == 10);
    CHECK(path_parse(test_op(), slice_of("/1/2/3/4/5/6/7/8/9/10/11"), &path) == ST_BAD_HEADER);
    CHECK(path_parse(test_op(), slice_of("/1/2/3/4/5/6/7/8/9/10/"), &path) == ST_OK);
}

TEST(empty_segments_inside_a_path_count)
{
    struct path path;

    CHECK(path_parse(test_op(), slice_of("/dbs//colls"), &path) == ST_OK);
    CHECK(path.count == 3 && path.segment[1].size == 0 && slice_is(path.shape, "dbs/x/colls"));
}
