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
    { "/*", 0 },
    { "/", 0 },
    { "/a/?", 0 },
    { "/a/*", 0 },
    { "/a/b/?", 0 },
    { "/a/[]/?", 0 },
    { "/[]/*", 0 },
    { "/\"a/b\"/?", 0 },
    { "/ü/?", 0 },
    { "/a b/?", 0 },
    { "/?", 0 },
    { "", 1 },
    { "a", 1 },
    { "/a", 2 },
    { "/a/", 4 },
    { "//", 2 },
    { "/a/*/b", 5 },
    { "/a/?/", 5 },
    { "/\"a/?", 2 },
    { "/a(b/?", 3 },
    { "/a/[]", 5 },
    { "/[]a/?", 4 },
    { "/(/?", 2 },
    /* Of tuples, those that the service's page on indexing policies calls valid, and those that it does not. */
    { "/events/[]/{name/first, name/last}/?", 0 },
    { "/events/[]/{name/first, category/subcategory}/?", 0 },
    { "/events/[]/{name/[1]/first, category}/?", 0 },
    { "/events/[]/{[1], [3]}/?", 0 },
    { "/city/[1]/events/[]/{name, category}/?", 0 },
    { "/e/[]/{ \"a,b\" , c d }/?", 0 },
    { "/events/[]/{name/[]/first, category}/?", 18 },
    { "/events/[]/{name, category}/*", 27 },
    { "/events/[]/{{name, first},category}/?", 13 },
    { "/events/{name, category}/?", 9 },
    { "/events/[]/{/name,/category}/?", 13 },
    { "/events/[]/{name/?,category/?}/?", 18 },
    { "/city/[]/events/[]/{name, category}/?", 20 },
    { "/e/[]/{}/?", 8 },
    { "/e/[]/{a,}/?", 10 },
    { "/e/[]/{a", 9 },
    { "/e/[1]/?", 9 },
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

static bool is_path(const struct index_path *path, const char *joined)
{
    struct buf text;

    buf_init(&text, &test_op()->arena);
    for (size_t i = 0; i < path->count; i++) {
        buf_text(&text, i ? "|" : "");
        buf_slice(&text, path->step[i].element ? slice_of("[]") : path->step[i].name);
    }
    return slice_is(buf_as_slice(&text), joined);
}

TEST(a_path_is_taken_apart_into_steps)
{
    struct policy_path path;

    CHECK(policy_path_parse(&test_op()->arena, slice_of("/a/[]/\"b/\\\"c\\\\\\d\"/*"), &path) == 0);
    CHECK(is_path(&path.path, "a|[]|b/\"c\\\\d") && path.below && path.part_count == 0 && !path.unusable);
    CHECK(policy_path_parse(&test_op()->arena, slice_of("/a/?"), &path) == 0);
    CHECK(is_path(&path.path, "a") && !path.below);
    CHECK(policy_path_parse(&test_op()->arena, slice_of("/"), &path) == 0);
    CHECK(path.path.count == 0 && path.below);
}

TEST(a_tuple_is_taken_apart_into_its_prefix_and_parts)
{
    struct policy_path path;

    CHECK(policy_path_parse(&test_op()->arena, slice_of("/x/e/[]/{ a/b , \"c, \" }/?"), &path) == 0);
    CHECK(is_path(&path.path, "x|e|[]") && path.part_count == 2 && !path.unusable);
    CHECK(is_path(&path.part[0], "a|b") && is_path(&path.part[1], "c, "));
    CHECK(policy_path_parse(&test_op()->arena, slice_of("/e/[]/{[1], [3]}/?"), &path) == 0 && path.unusable);
    CHECK(policy_path_parse(&test_op()->arena, slice_of("/e/[]/{a,b,c,d,e,f,g,h,i}/?"), &path) == 0);
    CHECK(path.unusable);
}

TEST(a_composite_path_has_no_wildcard_at_its_end)
{
    struct policy_path path;

    CHECK(composite_path_parse(&test_op()->arena, slice_of("/children/[]/age"), &path) == 0);
    CHECK(is_path(&path.path, "children|[]|age"));
    CHECK(composite_path_parse(&test_op()->arena, slice_of("/a/?"), &path) != 0);
    CHECK(composite_path_parse(&test_op()->arena, slice_of("/a/*"), &path) != 0);
    CHECK(composite_path_parse(&test_op()->arena, slice_of("/"), &path) != 0);
    CHECK(composite_path_parse(&test_op()->arena, slice_of(""), &path) != 0);
    CHECK(composite_path_parse(&test_op()->arena, slice_of("a"), &path) != 0);
    CHECK(composite_path_parse(&test_op()->arena, slice_of("/a/[1]"), &path) != 0);
}
