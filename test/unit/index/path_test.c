/* test/unit/index/path_test.c - paths of indexing policies: where they go wrong, and what they are made of. */
#include "base/limits.h"
#include "index/path.h"
#include "test.h"

static void tell(const char *path, size_t got)
{
    char what[200];

    snprintf(what, sizeof(what), "the path %s gave %zu", path, got);
    test_failed(__FILE__, __LINE__, what);
}

/* Where it goes wrong, counted from 1; 0 where it does not. */
static const struct {
    const char *path;
    size_t error;
} index_paths[] = {
    { "/*", 0 },     { "/", 0 },          { "/a/?", 0 },  { "/a/*", 0 },   { "/a/b/?", 0 }, { "/a/[]/?", 0 },
    { "/[]/*", 0 },  { "/\"a/b\"/?", 0 }, { "/ü/?", 0 },  { "/a b/?", 0 }, { "/?", 0 },     { "", 1 },
    { "a", 1 },      { "/a", 2 },         { "/a/", 4 },   { "//", 2 },     { "/a/*/b", 5 }, { "/a/?/", 5 },
    { "/\"a/?", 2 }, { "/a(b/?", 3 },     { "/a/[]", 5 }, { "/[]a/?", 4 }, { "/(/?", 2 },
};

TEST(an_index_path_ends_in_a_wildcard_and_tells_where_it_goes_wrong)
{
    for (size_t i = 0; i < sizeof(index_paths) / sizeof(index_paths[0]); i++) {
        struct policy_path parsed;
        size_t got = policy_path_parse(&test_op()->arena, slice_of(index_paths[i].path), &parsed);

        if (got != index_paths[i].error)
            tell(index_paths[i].path, got);
    }
}
