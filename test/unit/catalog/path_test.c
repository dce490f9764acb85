/* test/unit/catalog/path_test.c - paths of keys. */
#include "catalog/definition.h"
#include "test.h"

static void tell(const char *path, size_t got)
{
    char what[200];

    snprintf(what, sizeof(what), "the path %s gave %zu", path, got);
    test_failed(__FILE__, __LINE__, what);
}

/* Segments joined with '|', or NULL where the path is malformed. */
static const struct {
    const char *path, *segments;
} key_paths[] = {
    { "/a", "a" },           { "/a/b/c", "a|b|c" }, { "/\"a/b\"/c", "a/b|c" },
    { "/\"a b\"", "a b" },   { "/a b", "a b" },     { "/_$@.-9", "_$@.-9" },
    { "/ü", "ü" },           { "", NULL },          { "/", NULL },
    { "a", NULL },           { "/a/", NULL },       { "//a", NULL },
    { "/*", NULL },          { "/a/?", NULL },      { "/a/[]", NULL },
    { "/\"a", NULL },        { "/\"\"", NULL },     { "/\"a\"b", NULL },
    { "/\"a\\\"b\"", NULL }, { "/a\"b\"", NULL },   { "/a'b", NULL },
};

TEST(a_key_path_is_its_labels_quoted_or_not)
{
    for (size_t i = 0; i < sizeof(key_paths) / sizeof(key_paths[0]); i++) {
        struct key_path parsed;
        bool good = key_path_parse(slice_of(key_paths[i].path), &parsed);
        struct buf joined;

        buf_init(&joined, &test_op()->arena);
        for (size_t k = 0; good && k < parsed.count; k++) {
            buf_text(&joined, k ? "|" : "");
            buf_slice(&joined, parsed.segment[k]);
        }
        if (good != (key_paths[i].segments != NULL) ||
            (good && !slice_is(buf_as_slice(&joined), key_paths[i].segments)))
            tell(key_paths[i].path, parsed.count);
    }
}

TEST(a_key_path_deeper_than_the_limit_is_refused)
{
    char path[2 * (PATH_SEGMENTS_MAX + 1) + 1] = "";
    struct key_path parsed;

    for (int i = 0; i < PATH_SEGMENTS_MAX + 1; i++)
        memcpy(path + 2 * i, "/a", 3);
    CHECK(!key_path_parse(slice_of(path), &parsed));
    CHECK(key_path_parse(slice_make(path, 2 * PATH_SEGMENTS_MAX), &parsed) &&
          parsed.count == PATH_SEGMENTS_MAX);
}
