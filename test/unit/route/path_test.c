/* test/unit/route/path_test.c - targets in all the encodings that clients produce. */
#include "base/limits.h"
#include "route/path.h"
#include "test.h"

static const struct {
    const char *target, *shape, *type, *link;
} paths[] = {
    { "/", "", "", "" },
    { "", "", "", "" },
    { "//", "", "", "" },
    { "/dbs", "dbs", "dbs", "" },
    { "/dbs/", "dbs", "dbs", "" },
    { "/dbs/a", "dbs/x", "dbs", "dbs/a" },
    { "/dbs/a/", "dbs/x", "dbs", "dbs/a" },
    { "dbs/a", "dbs/x", "dbs", "dbs/a" },
    { "/dbs/A", "dbs/x", "dbs", "dbs/A" },
    { "/dbs/a/colls", "dbs/x/colls", "colls", "dbs/a" },
    { "/dbs/a/colls/b/docs", "dbs/x/colls/x/docs", "docs", "dbs/a/colls/b" },
    { "/dbs/a/colls/b/docs/c", "dbs/x/colls/x/docs/x", "docs", "dbs/a/colls/b/docs/c" },
    { "/dbs/a/colls/b/operations/c", "dbs/x/colls/x/operations/x", "colls", "dbs/a/colls/b" },
    { "/dbs/a/colls/%62/operations/c/", "dbs/x/colls/x/operations/x", "colls", "dbs/a/colls/b" },
    /* spaces and letters of all kinds */
    { "/dbs/a%20b", "dbs/x", "dbs", "dbs/a b" },
    { "/dbs/a+b", "dbs/x", "dbs", "dbs/a+b" },
    { "/dbs/a%2Bb", "dbs/x", "dbs", "dbs/a+b" },
    { "/dbs/%c3%bc", "dbs/x", "dbs", "dbs/ü" },
    { "/dbs/ü", "dbs/x", "dbs", "dbs/ü" },
    { "/dbs/%F0%9F%98%80", "dbs/x", "dbs", "dbs/😀" },
    { "/dbs/%61", "dbs/x", "dbs", "dbs/a" },
    { "/dbs/%2561", "dbs/x", "dbs", "dbs/%61" },
    /* what stands in the place of a type is a type as it is spelt, or none */
    { "/%64bs/a", "%64bs/x", "%64bs", "%64bs/a" },
    { "/dbs/s/colls%2Fx", "dbs/x/colls%2Fx", "colls%2Fx", "dbs/s" },
    { "/dbs/s/colls%2fx%2fdocs", "dbs/x/colls%2fx%2fdocs", "colls%2fx%2fdocs", "dbs/s" },
    { "/dbs%2Fx", "dbs%2Fx", "dbs%2Fx", "" },
    { "/dbs/s/users%2Fx%2Fpermissions", "dbs/x/users%2Fx%2Fpermissions", "users%2Fx%2Fpermissions", "dbs/s" },
    /* what an id may hold and a path cannot */
    { "/dbs/a%2Fb", "dbs/x", "dbs", "dbs/a/b" },
    { "/dbs/d/colls/c/docs/a%3Fb", "dbs/x/colls/x/docs/x", "docs", "dbs/d/colls/c/docs/a?b" },
    { "/dbs/d/colls/c/docs/a?b", "dbs/x/colls/x/docs/x", "docs", "dbs/d/colls/c/docs/a?b" },
    { "/dbs/d/colls/c/docs/?", "dbs/x/colls/x/docs", "docs", "dbs/d/colls/c" },
    { "/dbs/a%23b", "dbs/x", "dbs", "dbs/a#b" },
    { "/dbs/a#b", "dbs/x", "dbs", "dbs/a#b" },
    { "/dbs/a&b=c;d,e@$", "dbs/x", "dbs", "dbs/a&b=c;d,e@$" },
    /* queries that are queries */
    { "/addresses/?$resolveFor=dbs&$filter=y", "addresses", "dbs", "" },
    { "//addresses/?$resolveFor=dbs%2fA%3d%2Fcolls%2fB%2fdocs&$partitionKeyRangeIds=0", "addresses", "docs",
      "dbs/A=/colls/B" },
    { "/dbs/a?api-version=1", "dbs/x", "dbs", "dbs/a" },
    { "/dbs/a?$partitionKeyRangeIds=0", "dbs/x", "dbs", "dbs/a" },
    { "/?", "", "", "" },
    /* the form that proxies are asked in */
    { "http://localhost:8081/dbs/a", "dbs/x", "dbs", "dbs/a" },
    { "https://localhost/dbs", "dbs", "dbs", "" },
    { "http://h", "", "", "" },
    { "http://h/", "", "", "" },
    { "http://", "", "", "" },
    { "https://", "", "", "" },
    { "http:///dbs", "dbs", "dbs", "" },
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
            !same(path.type, paths[i].type, "type") || !same(path.link, paths[i].link, "link"))
            test_failed(__FILE__, __LINE__, paths[i].target);
    }
}

TEST(a_path_that_is_not_encoded_correctly_is_refused)
{
    static const char *const targets[] = { "/dbs/%", "/dbs/%2", "/dbs/%zz", "/dbs/a%", "/dbs/a%2/colls" };

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

TEST(a_path_that_is_longer_than_the_longest_ids_is_refused)
{
    static char target[TARGET_PATH_BYTES_MAX + 2] = "/dbs/";
    struct path path;

    memset(target + 5, 'a', sizeof(target) - 5);
    CHECK(path_parse(test_op(), slice_make(target, sizeof(target) - 1), &path) == ST_OK);
    CHECK(path_parse(test_op(), slice_make(target, sizeof(target)), &path) == ST_BAD_HEADER);
    CHECK(slice_of(test_op()->error).size < 100);
}

/* Otherwise a signature over a name would hold for everything of that name, in whatever database. */
TEST(only_a_link_of_rids_each_below_the_one_before_may_be_signed_by_its_last)
{
    static const struct {
        const char *target, *rid;
    } links[] = {
        { "/dbs/AQAAAA==", "AQAAAA==" },
        { "/dbs/AQAAAA==/colls", "AQAAAA==" },
        { "/dbs/AQAAAA==/colls/AQAAAAEAAIA=", "AQAAAAEAAIA=" },
        { "/dbs/AQAAAA==/colls/AQAAAAEAAIA=/docs", "AQAAAAEAAIA=" },
        { "/dbs/AQAAAA==/colls/AQAAAAEAAIA=/docs/AQAAAAEAAIABAAAAAAAAAA==", "AQAAAAEAAIABAAAAAAAAAA==" },
        { "/dbs/AQAAAA==/colls/AQAAAAEAAIA=/operations/partitionkeydelete", "AQAAAAEAAIA=" },
        { "/offers/AQAA", "AQAA" },
        { "/", NULL },
        { "/dbs", NULL },
        { "/dbs/name", NULL },
        { "/dbs/AQAA", NULL },
        { "/dbs/name/colls/AQAAAAEAAIA=", NULL },
        { "/dbs/AgAAAA==/colls/AQAAAAEAAIA=", NULL },
        { "/dbs/AQAAAA==/colls/AQAAAA==", NULL },
        { "/dbs/AQAAAA==/colls/name", NULL },
        { "/dbs/AQAAAA==/colls/AQAAAAEAAIA=/docs/1", NULL },
        { "/dbs/AQAAAA==/colls/AQAAAAEAAIA=/docs/AgAAAAEAAIABAAAAAAAAAA==", NULL },
    };

    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        struct path path;

        CHECK(path_parse(test_op(), slice_of(links[i].target), &path) == ST_OK);
        if (links[i].rid ? !slice_is(path.rid, links[i].rid) : path.rid.data != NULL)
            test_failed(__FILE__, __LINE__, links[i].target);
    }
}
