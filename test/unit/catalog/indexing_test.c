/* test/unit/catalog/indexing_test.c - indexing policies: what is filled in, what is echoed, what is refused. */
#include "base/limits.h"
#include "catalog/indexing.h"
#include "rig.h"

#define ETAG "{'path':'/\\\"_etag\\\"/?'}"
#define POLICY(paths) "{'indexingMode':'consistent','automatic':true," paths "}"
#define USUAL_PATHS "'includedPaths':[{'path':'/*'}],'excludedPaths':[" ETAG "]"
#define NO_INDEX "{'indexingMode':'none','automatic':false,'includedPaths':[],'excludedPaths':[]}"

static enum status define(const char *policy, bool is_geometry, struct slice *printed)
{
    struct json_builder builder;
    struct buf text;
    enum status st;

    json_builder_init(&builder, &test_op()->arena);
    st = indexing_policy_define(test_op(), policy ? rig_json(test_op(), policy) : json_undefined,
                                (struct indexing_options){ .is_geometry = is_geometry }, &builder);
    buf_init(&text, &test_op()->arena);
    if (st == ST_OK)
        json_print(&text, json_built(&builder));
    else
        buf_text(&text, test_op()->error);
    *printed = buf_as_slice(&text);
    return st;
}

static void tell(const char *given, struct slice got)
{
    char what[2000];

    snprintf(what, sizeof(what), "%s gave %.*s", given ? given : "nothing", SLICE_ARGS(got));
    test_failed(__FILE__, __LINE__, what);
}

static const struct {
    const char *policy, *echo;
} echoes[] = {
    { NULL, POLICY(USUAL_PATHS) },
    { "null", POLICY(USUAL_PATHS) },
    { "{}", POLICY(USUAL_PATHS) },
    { "{'includedPaths':null,'excludedPaths':null,'compositeIndexes':null,'spatialIndexes':[]}",
      POLICY(USUAL_PATHS) },
    { "{'includedPaths':[],'excludedPaths':[]}", POLICY(USUAL_PATHS) },
    { "{'indexingMode':'Consistent','automatic':true}", POLICY(USUAL_PATHS) },
    { "{'automatic':false}",
      "{'indexingMode':'consistent','automatic':true," USUAL_PATHS "}" }, /* it is passed over */
    { "{'indexingMode':'None','automatic':false}", NO_INDEX },
    { "{'indexingMode':'none'}", NO_INDEX },
    { "{'indexingMode':'none','automatic':false,'includedPaths':[{'path':'/*'}],'compositeIndexes':1}",
      NO_INDEX },
    { "{'includedPaths':[{'path':'/'}]}", POLICY(USUAL_PATHS) },
    { "{'includedPaths':[{'path':'/*','indexes':[{'kind':'Range'}]}]}", POLICY(USUAL_PATHS) },
    { "{'excludedPaths':[" ETAG "]}", POLICY(USUAL_PATHS) },
    { "{'excludedPaths':[{'path':'/a/?'}]}",
      POLICY("'includedPaths':[{'path':'/*'}],'excludedPaths':[{'path':'/a/?'}," ETAG "]") },
    { "{'includedPaths':[{'path':'/a/?'}],'excludedPaths':[{'path':'/*'}]}",
      POLICY("'includedPaths':[{'path':'/a/?'}],'excludedPaths':[{'path':'/*'}," ETAG "]") },
    { "{'excludedPaths':[{'path':'/*'}]}",
      POLICY("'includedPaths':[],'excludedPaths':[{'path':'/*'}," ETAG "]") },
    { "{'compositeIndexes':[[{'path':'/a'},{'path':'/b','order':'Descending'}],[{'path':'/b'},{'path':'/c/"
      "d','order':'ascending'}]]}",
      POLICY(USUAL_PATHS
             ",'compositeIndexes':[[{'path':'/a','order':'ascending'},{'path':'/b','order':'descending'}],"
             "[{'path':'/b','order':'ascending'},{'path':'/c/d','order':'ascending'}]]") },
    { "{'compositeIndexes':[]}", POLICY(USUAL_PATHS) },
    { "{'includedPaths':[{'path':'/*'},{'path':'/e/[]/{a/b, c}/?'}]}",
      POLICY("'includedPaths':[{'path':'/*'},{'path':'/e/[]/{a/b, c}/?'}],'excludedPaths':[" ETAG "]") },
    { "{'compositeIndexes':[[{'path':'/a'},{'path':'/b/[]/c'}]]}",
      POLICY(USUAL_PATHS ",'compositeIndexes':[[{'path':'/a','order':'ascending'},{'path':'/b/[]/"
                         "c','order':'ascending'}]]") },
    { "{'spatialIndexes':[{'path':'/p/?','types':['Point','polygon']}]}",
      POLICY(USUAL_PATHS
             ",'spatialIndexes':[{'path':'/p/?','types':['Point','LineString','Polygon','MultiPolygon']}]") },
    { "{'vectorIndexes':[{'path':'/v','type':'diskANN'}]}",
      POLICY(USUAL_PATHS ",'vectorIndexes':[{'path':'/v','type':'diskANN'}]") },
    { "{'fullTextIndexes':[{'path':'/t'}]}", POLICY(USUAL_PATHS ",'fullTextIndexes':[{'path':'/t'}]") },
    { "{'unknown':1}", POLICY(USUAL_PATHS) },
};

TEST(a_policy_is_echoed_with_what_it_leaves_out)
{
    for (size_t i = 0; i < sizeof(echoes) / sizeof(echoes[0]); i++) {
        struct slice got;

        if (define(echoes[i].policy, false, &got) != ST_OK ||
            !slice_equal(got, rig_quoted(test_op(), echoes[i].echo)))
            tell(echoes[i].policy, got);
    }
}

#define BEGIN "The input content is invalid. "
#define PATH(path, position)                                                              \
    "The indexing path '" path "' could not be accepted, failed near position '" position \
    "'. Please ensure that the "                                                          \
    "path is a valid path. Common errors include invalid characters or absence of quotes around labels."
#define PATH_MISSING "The input content is invalid because the required properties - 'path; ' - are missing"
#define ORDER BEGIN "The order of a composite index path must be 'ascending' or 'descending'."

static const struct {
    const char *policy, *error;
} refusals[] = {
    { "1", BEGIN "'indexingPolicy' must be an object." },
    { "{'indexingMode':'eager'}", BEGIN "'indexingMode' must be one of 'consistent' and 'none'." },
    { "{'indexingMode':1}", BEGIN "'indexingMode' must be one of 'consistent' and 'none'." },
    { "{'automatic':'yes'}", BEGIN "'automatic' must be a boolean." },
    { "{'indexingMode':'none','automatic':true}",
      BEGIN "'automatic' must be false when 'indexingMode' is 'none'." },
    { "{'includedPaths':{}}", BEGIN "'includedPaths' in the indexing policy must be an array." },
    { "{'excludedPaths':1}", BEGIN "'excludedPaths' in the indexing policy must be an array." },
    { "{'compositeIndexes':1}", BEGIN "'compositeIndexes' in the indexing policy must be an array." },
    { "{'spatialIndexes':1}", BEGIN "'spatialIndexes' in the indexing policy must be an array." },
    { "{'includedPaths':[{}]}", PATH_MISSING },
    { "{'includedPaths':['/*']}", PATH_MISSING },
    { "{'includedPaths':[{'path':1}]}", PATH_MISSING },
    { "{'includedPaths':[{'path':'a'}]}", PATH("a", "1") },
    { "{'excludedPaths':[{'path':'/a'}]}", PATH("/a", "2") },
    { "{'includedPaths':[{'path':'/*'}],'excludedPaths':[{'path':'/*'}]}",
      "The indexing path '/*' is provided in more than one of the path type sets." },
    { "{'includedPaths':[{'path':'/'}],'excludedPaths':[{'path':'/*'}]}",
      "The indexing path '/*' is provided in more than one of the path type sets." },
    { "{'includedPaths':[{'path':'/a/?'}]}", "The special mandatory indexing path \"/\" is not provided in "
                                             "any of the path type sets. Please provide this path "
                                             "in one of the sets." },
    { "{'compositeIndexes':[{}]}", BEGIN "A composite index must have at least two paths." },
    { "{'compositeIndexes':[[{'path':'/a'}]]}", BEGIN "A composite index must have at least two paths." },
    { "{'compositeIndexes':[[{'path':'a'},{'path':'/b'}]]}", BEGIN "A composite index path is malformed." },
    { "{'compositeIndexes':[[{'path':'/a/*'},{'path':'/b'}]]}",
      BEGIN "A composite index path is malformed." },
    { "{'compositeIndexes':[[{},{'path':'/b'}]]}", BEGIN "A composite index path is malformed." },
    { "{'compositeIndexes':[[{'path':'/a','order':'up'},{'path':'/b'}]]}", ORDER },
    { "{'compositeIndexes':[[{'path':'/a','order':1},{'path':'/b'}]]}", ORDER },
    { "{'spatialIndexes':[{}]}", PATH_MISSING },
    { "{'spatialIndexes':[{'path':'/p'}]}", PATH("/p", "2") },
    { "{'spatialIndexes':[{'path':'/p/*','types':['Circle']}]}",
      BEGIN "A spatial index has an unknown type." },
    { "{'spatialIndexes':[{'path':'/p/*','types':'Point'}]}",
      BEGIN "The types of a spatial index must be an array." },
    { "{'includedPaths':[{'path':'/*'},{'path':'/a/?'}],'excludedPaths':[{'path':'/b/*'},{'path':'/a/?'}]}",
      "The indexing path '/a/?' is provided in more than one of the path type sets." },
};

TEST(a_policy_out_of_bounds_is_refused_with_its_reason)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct slice got;

        if (define(refusals[i].policy, false, &got) != ST_BAD_REQUEST || !slice_is(got, refusals[i].error))
            tell(refusals[i].policy, got);
    }
}

TEST(a_spatial_index_over_geometry_needs_a_bounding_box)
{
    struct slice got;

    CHECK(define("{'spatialIndexes':[{'path':'/p/*','types':['Point']}]}", false, &got) == ST_OK);
    CHECK(define("{'spatialIndexes':[{'path':'/p/*','types':['Point']}]}", true, &got) == ST_BAD_REQUEST);
    CHECK(define("{'spatialIndexes':[{'path':'/p/*','types':['Point'],'boundingBox':{'xmin':0}}]}", true,
                 &got) == ST_BAD_REQUEST);
    CHECK(define("{'spatialIndexes':[{'path':'/p/"
                 "*','types':['Point'],'boundingBox':{'xmin':0,'ymin':9,'xmax':9,'ymax':9}}]}",
                 true, &got) == ST_BAD_REQUEST);
    CHECK(define("{'spatialIndexes':[{'path':'/p/"
                 "*','types':['Point'],'boundingBox':{'xmin':0,'ymin':0,'xmax':9,'ymax':9}}]}",
                 true, &got) == ST_OK);
}

/* A policy whose list `name` has so many entries. */
static enum status define_many(const char *name, const char *entry, size_t count)
{
    struct slice printed;
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_printf(&text, "{'%s':[", name);
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s%s", i ? "," : "", entry);
    buf_text(&text, "]}");
    buf_byte(&text, '\0');
    return define(text.data, false, &printed);
}

TEST(a_policy_has_as_many_paths_and_composite_indexes_as_the_service_takes)
{
    static const char path[] = "{'path':'/a/?'}", composite[] = "[{'path':'/a'},{'path':'/b'}]";

    CHECK(define_many("excludedPaths", path, INDEX_PATHS_MAX) == ST_OK);
    CHECK(define_many("excludedPaths", path, INDEX_PATHS_MAX + 1) == ST_BAD_REQUEST);
    CHECK(define_many("includedPaths", "{'path':'/*'}", INDEX_PATHS_MAX + 1) == ST_BAD_REQUEST);
    CHECK(define_many("compositeIndexes", composite, COMPOSITE_INDEXES_MAX) == ST_OK);
    CHECK(define_many("compositeIndexes", composite, COMPOSITE_INDEXES_MAX + 1) == ST_BAD_REQUEST);
}
