/* test/unit/index/policy_test.c - what a policy answers to whoever plans a query. */
#include "index/path.h"
#include "index/policy.h"
#include "rig.h"

static enum status computes_most(struct op *op, struct json computed, size_t which, struct json document,
                                 struct index_computed *result)
{
    (void)op, (void)document;
    *result = (struct index_computed){ .value = json_undefined };
    return slice_is(json_string(json_get(json_element(computed, which), "query")), "impossible")
               ? ST_BAD_REQUEST
               : ST_OK;
}

static struct index_policy_source source_of(const char *policy)
{
    return (struct index_policy_source){ .policy = rig_json(test_op(), policy), .compute = computes_most };
}

static const struct index_policy *read_policy(const struct index_policy_source *source)
{
    struct index_policy *policy = NULL;

    CHECK(index_policy_read(test_op(), &test_op()->arena, source, &policy) == ST_OK);
    return policy;
}

static const struct index_policy *policy_of(const char *text)
{
    struct index_policy_source source = source_of(text);

    return read_policy(&source);
}

static struct index_path path_of(const char *text)
{
    struct policy_path parsed;

    CHECK(composite_path_parse(&test_op()->arena, slice_of(text), &parsed) == 0);
    return parsed.path;
}

static bool has_values(const struct index_policy *policy, const char *path)
{
    struct index_path steps = path_of(path);

    return index_policy_has_values(policy, &steps);
}

/* What the service's page on indexing policies says of precedence, and what follows from it. */
static const struct {
    const char *included, *excluded, *path;
    bool has;
} precedence[] = {
    { "/*", "/x/?", "/a", true },
    { "/*", "/x/?", "/a/b/[]/c", true },
    { "/*", "/a/?", "/a", false },
    { "/*", "/a/?", "/a/b", true },
    { "/*", "/a/*", "/a/b", false },
    { "/a/?", "/*", "/a", true },
    { "/a/?", "/*", "/a/b", false },
    { "/a/?", "/*", "/a/[]", false },
    { "/a/*", "/*", "/a", true },
    { "/a/*", "/*", "/a/[]", true },
    { "/a/[]/?", "/*", "/a/[]", true },
    { "/a/[]/?", "/*", "/a", false },
    { "/a/?", "/a/*", "/a", true },
    { "/a/*", "/a/?", "/a", false },
    { "/a/*", "/a/?", "/a/b", true },
    { "/a/b/?", "/a/*", "/a/b", true },
    { "/f/i/n/*", "/f/i/*", "/f/i/n/z", true },
    { "/f/i/n/*", "/f/i/*", "/f/i/y", false },
    { "/\"a b\"/?", "/*", "/\"a b\"", true },
    { "/\"a\\\"b\"/?", "/*", "/\"a\\\"b\"", true },
};

static const char *policy_text(const char *included, const char *excluded)
{
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_text(&text, "{\"includedPaths\":[{\"path\":");
    json_print_string(&text, slice_of(included));
    buf_text(&text, "}],\"excludedPaths\":[{\"path\":");
    json_print_string(&text, slice_of(excluded));
    buf_text(&text, "}]}");
    buf_byte(&text, '\0');
    return text.data;
}

TEST(the_more_precise_path_decides)
{
    for (size_t i = 0; i < sizeof(precedence) / sizeof(precedence[0]); i++) {
        const char *text = policy_text(precedence[i].included, precedence[i].excluded);
        const struct index_policy *policy = policy_of(text);

        if (has_values(policy, precedence[i].path) != precedence[i].has) {
            test_failed(__FILE__, __LINE__, text);
            test_failed(__FILE__, __LINE__, precedence[i].path);
        }
    }
}

TEST(id_and_time_have_entries_whatever_is_excluded_and_other_system_properties_never)
{
    const struct index_policy *policy =
        policy_of("{'includedPaths':[{'path':'/_etag/?'}],'excludedPaths':[{'path':'/*'},{'path':'/id/"
                  "?'},{'path':'/_ts/?'}]}");

    CHECK(has_values(policy, "/id") && has_values(policy, "/_ts"));
    CHECK(!has_values(policy, "/_etag") && !has_values(policy, "/_rid") && !has_values(policy, "/_self") &&
          !has_values(policy, "/_attachments"));
    policy = policy_of("{'includedPaths':[{'path':'/*'}]}");
    CHECK(!has_values(policy, "/_etag") && !has_values(policy, "/_rid/a") && has_values(policy, "/_lsn"));
}

TEST(an_empty_policy_has_nothing)
{
    const struct index_policy *policy = policy_of("{'indexingMode':'none','automatic':false}");

    CHECK(index_policy_is_empty(policy) && !has_values(policy, "/id") && !has_values(policy, "/_ts"));
    CHECK(!index_policy_is_empty(policy_of("{'excludedPaths':[{'path':'/*'}]}")));
}

TEST(only_automatic_false_is_manual)
{
    CHECK(index_policy_is_manual(policy_of("{'automatic':false}")));
    CHECK(!index_policy_is_manual(policy_of("{'automatic':true}")) &&
          !index_policy_is_manual(policy_of("{}")));
}

TEST(the_whole_document_is_no_path)
{
    struct index_path none = { NULL, 0 };

    struct index_spatial spatial;

    CHECK(!index_policy_has_values(policy_of("{'includedPaths':[{'path':'/*'}]}"), &none));
    CHECK(!index_policy_spatial(policy_of("{'spatialIndexes':[{'path':'/*'}]}"), &none, &spatial));
}

#define COMPOSITES(list) "{'includedPaths':[{'path':'/*'}],'compositeIndexes':[" list "]}"

static size_t count_composites(const char *text)
{
    size_t count;

    index_policy_composites(policy_of(text), &count);
    return count;
}

TEST(a_composite_index_has_an_id_of_its_paths_and_their_directions)
{
    const struct index_policy *policy = policy_of(
        COMPOSITES("[{'path':'/a'},{'path':'/b/c','order':'descending'}],[{'path':'/a'},{'path':'/b/c'}]"));
    size_t count;
    const struct index_joined *composite = index_policy_composites(policy, &count);
    struct index_path a = path_of("/a"), bc = path_of("/b/c");

    REQUIRE(count == 2 && composite[0].part_count == 2);
    CHECK(!composite[0].descending[0] && composite[0].descending[1] && !composite[1].descending[1]);
    CHECK(composite[0].id == path_join(path_join(path_root(TERM_COMPOSITE), index_path_id(policy, &a), false),
                                       index_path_id(policy, &bc), true));
    CHECK(composite[0].id != composite[1].id);
    CHECK(index_path_id(policy, &composite[0].part[1]) == index_path_id(policy, &bc));
}

TEST(a_composite_index_without_one_entry_a_document_is_left_out)
{
    CHECK(count_composites(COMPOSITES("[{'path':'/a'},{'path':'/_ts'}]")) == 1);
    CHECK(count_composites(COMPOSITES("[{'path':'/a/[]/b'},{'path':'/c'}]")) == 0);
    CHECK(count_composites(COMPOSITES("[{'path':'/_ts'},{'path':'/_ts','order':'descending'}]")) == 0);
    CHECK(count_composites(COMPOSITES("[{'path':'/_etag'},{'path':'/a'}]")) == 0);
}

TEST(tuples_are_told_with_their_prefix_and_parts)
{
    const struct index_policy *policy =
        policy_of("{'includedPaths':[{'path':'/*'},{'path':'/e/[]/{name/first, kind}/?'}]}");
    size_t count;
    const struct index_joined *tuple = index_policy_tuples(policy, &count);

    REQUIRE(count == 1);
    CHECK(tuple->prefix.count == 2 && tuple->prefix.step[1].element);
    CHECK(tuple->part_count == 2 && tuple->part[0].count == 2 && tuple->part[1].count == 1);
    CHECK(slice_is(tuple->part[0].step[1].name, "first") && slice_is(tuple->part[1].step[0].name, "kind"));
    CHECK(!tuple->descending[0]);
    index_policy_tuples(policy_of("{'includedPaths':[{'path':'/e/[]/{[1], a}/?'}]}"), &count);
    CHECK(count == 0);
}

static bool has_spatial(const struct index_policy *policy, const char *path, struct index_spatial *spatial)
{
    struct index_path steps = path_of(path);

    return index_policy_spatial(policy, &steps, spatial);
}

TEST(spatial_indexes_are_found_by_path_with_a_star_below_it_too)
{
    struct index_spatial spatial;
    const struct index_policy *policy = policy_of(
        "{'spatialIndexes':[{'path':'/p/?','types':['Point']},{'path':'/q/*','types':['Polygon']}]}");
    struct index_path p = path_of("/p");

    REQUIRE(has_spatial(policy, "/p", &spatial));
    CHECK(!spatial.planar && spatial.id == path_spatial(index_path_id(policy, &p), NULL));
    CHECK(!has_spatial(policy, "/p/a", &spatial) && !has_spatial(policy, "/r", &spatial));
    CHECK(has_spatial(policy, "/q", &spatial) && has_spatial(policy, "/q/[]/a", &spatial));
    CHECK(has_spatial(policy_of("{'spatialIndexes':[{'path':'/*'}]}"), "/anything/at", &spatial));
}

TEST(on_a_plane_a_spatial_index_has_its_box)
{
    struct index_policy_source source = source_of(
        "{'spatialIndexes':[{'path':'/p/*','boundingBox':{'xmin':-1,'ymin':-2.5,'xmax':3,'ymax':4}}]}");
    struct index_spatial spatial;

    source.planar = true;
    REQUIRE(has_spatial(read_policy(&source), "/p", &spatial));
    CHECK(spatial.planar && spatial.box[0] == -1 && spatial.box[1] == -2.5 && spatial.box[2] == 3 &&
          spatial.box[3] == 4);
}

#define WITH_COMPUTED(query) "[{'name':'d','query':'" query "'}]"

static const struct index_policy *computed_policy(const char *policy, const char *computed, bool possible)
{
    struct index_policy_source source = source_of(policy);

    source.computed = rig_json(test_op(), computed);
    if (!possible)
        source.compute = NULL;
    return read_policy(&source);
}

TEST(a_computed_property_has_entries_only_where_a_path_names_it_and_somebody_can_compute_it)
{
    const char *all = "{'includedPaths':[{'path':'/*'}]}",
               *named = "{'includedPaths':[{'path':'/*'},{'path':'/d/?'}]}";
    struct slice d = slice_of("d"), q = slice_of("q");
    path_id path;

    CHECK(index_policy_computes(computed_policy(named, WITH_COMPUTED("q"), true), d, q, &path));
    CHECK(!index_policy_computes(computed_policy(named, WITH_COMPUTED("q"), true), d, slice_of("another"),
                                 &path));
    CHECK(!index_policy_computes(computed_policy(named, WITH_COMPUTED("q"), true), slice_of("e"), q, &path));
    CHECK(!index_policy_computes(computed_policy(all, WITH_COMPUTED("q"), true), d, q, &path));
    CHECK(!index_policy_computes(computed_policy(named, WITH_COMPUTED("q"), false), d, q, &path));
    CHECK(!index_policy_computes(computed_policy(named, WITH_COMPUTED("impossible"), true), d,
                                 slice_of("impossible"), &path));
}

/* What has the name in another version of the policy may be a stored property, or another query. */
TEST(what_is_computed_shares_no_id_with_what_is_stored_or_computed_otherwise)
{
    const char *named = "{'includedPaths':[{'path':'/*'},{'path':'/d/?'}],'compositeIndexes':[[{'path':'/"
                        "d'},{'path':'/a'}]]}";
    const struct index_policy *stored = policy_of(named),
                              *one = computed_policy(named, WITH_COMPUTED("q"), true),
                              *other = computed_policy(named, WITH_COMPUTED("r"), true);
    path_id path_of_one = 0, path_of_other = 0;
    struct index_path d = path_of("/d");
    size_t count;

    CHECK(has_values(stored, "/d") && !has_values(one, "/d") && !has_values(one, "/d/e") &&
          has_values(one, "/e"));
    CHECK(index_policy_computes(one, slice_of("d"), slice_of("q"), &path_of_one));
    CHECK(index_policy_computes(other, slice_of("d"), slice_of("r"), &path_of_other));
    CHECK(path_of_one != path_of_other && path_of_one != index_path_id(policy_of("{}"), &d));
    CHECK(index_policy_composites(one, &count)->id != index_policy_composites(other, &count)->id);
    CHECK(index_policy_composites(one, &count)->id != index_policy_composites(stored, &count)->id);
}

TEST(maps_with_different_boxes_share_no_id)
{
    struct index_policy_source source =
        source_of("{'spatialIndexes':[{'path':'/p/*','boundingBox':{'xmax':3}}]}");
    struct index_spatial earth, plane, larger;

    CHECK(has_spatial(read_policy(&source), "/p", &earth));
    source.planar = true;
    CHECK(has_spatial(read_policy(&source), "/p", &plane));
    source.policy = rig_json(test_op(), "{'spatialIndexes':[{'path':'/p/*','boundingBox':{'xmax':4}}]}");
    CHECK(has_spatial(read_policy(&source), "/p", &larger));
    CHECK(earth.id != plane.id && plane.id != larger.id && earth.id != larger.id);
}

TEST(a_composite_index_over_what_cannot_be_computed_is_left_out)
{
    const char *text = COMPOSITES("[{'path':'/d'},{'path':'/a'}]");
    size_t count;

    index_policy_composites(computed_policy(text, WITH_COMPUTED("q"), true), &count);
    CHECK(count == 1);
    index_policy_composites(computed_policy(text, WITH_COMPUTED("impossible"), true), &count);
    CHECK(count == 0);
}

TEST(paths_deeper_than_any_document_are_passed_over)
{
    char path[3 * JSON_DEPTH_MAX + 20] = "";
    size_t at = 0;

    for (int i = 0; i < JSON_DEPTH_MAX + 1; i++, at += 2)
        memcpy(path + at, "/a", 3);
    memcpy(path + at, "/?", 3);
    CHECK(has_values(policy_of(policy_text("/*", path)), "/a"));
}
