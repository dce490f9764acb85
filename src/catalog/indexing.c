/* src/catalog/indexing.c - what an indexing policy may say. */
#include "base/limits.h"
#include "catalog/indexing.h"
#include "index/path.h"

#define ETAG_PATH "/\"_etag\"/?"

static void add_text(struct json_builder *out, const char *name, const char *text)
{
    json_add_name(out, slice_of(name));
    json_add_string(out, slice_of(text));
}

static void add_path(struct json_builder *out, struct slice path)
{
    json_begin_object(out);
    json_add_name(out, slice_of("path"));
    json_add_string(out, path);
    json_end(out);
}

/* Reads a member of the policy that must be a list; undefined and null stand for no list. */
static enum status read_list(struct op *op, struct json policy, const char *name, size_t max,
                             struct json *list)
{
    *list = json_get(policy, name);
    if (json_kind(*list) == JSON_NULL)
        *list = json_undefined;
    if (json_kind(*list) != JSON_UNDEFINED && json_kind(*list) != JSON_ARRAY)
        return op_fail(op, ST_BAD_REQUEST,
                       "The input content is invalid. '%s' in the indexing policy must be an array.", name);
    if (json_kind(*list) == JSON_ARRAY && json_count(*list) > max)
        return op_fail(op, ST_BAD_REQUEST,
                       "The input content is invalid. '%s' in the indexing policy has more than %zu entries.",
                       name, max);
    return ST_OK;
}

static enum status read_path(struct op *op, struct json entry, struct slice *path)
{
    struct json value = json_get(entry, "path");
    struct policy_path parsed;
    size_t position;

    if (json_kind(value) != JSON_STRING)
        return op_fail(
            op, ST_BAD_REQUEST,
            "The input content is invalid because the required properties - 'path; ' - are missing");
    *path = json_string(value);
    position = policy_path_parse(&op->arena, *path, &parsed);
    if (position == 0)
        return ST_OK;
    return op_fail(
        op, ST_BAD_REQUEST,
        "The indexing path '%.*s' could not be accepted, failed near position '%zu'. Please ensure that the "
        "path is a valid path. Common errors include invalid characters or absence of quotes around labels.",
        SLICE_ARGS(*path), position);
}

static bool is_root(struct slice path)
{
    return slice_is(path, "/*") || slice_is(path, "/");
}

static bool is_etag(struct slice path)
{
    return slice_is(path, ETAG_PATH) || slice_is(path, "/_etag/?");
}

static enum status has_root(struct op *op, struct json list, bool *root, bool *etag)
{
    for (struct json_iter i = json_iter(list); json_next(&i);) {
        struct slice path = { 0 };
        enum status st = read_path(op, i.value, &path);

        if (st != ST_OK)
            return st;
        *root |= is_root(path);
        *etag |= is_etag(path);
    }
    return ST_OK;
}

/* Refuses a path that is in both lists: nobody could say whether it is indexed. */
static enum status check_apart(struct op *op, struct json included, struct json excluded)
{
    for (struct json_iter i = json_iter(included); json_next(&i);)
        for (struct json_iter j = json_iter(excluded); json_next(&j);) {
            struct slice path = json_string(json_get(i.value, "path"));

            if (slice_equal(path, json_string(json_get(j.value, "path"))))
                return op_fail(op, ST_BAD_REQUEST,
                               "The indexing path '%.*s' is provided in more than one of the path type sets.",
                               SLICE_ARGS(path));
        }
    return ST_OK;
}

static struct slice path_in(struct json entry)
{
    struct slice path = json_string(json_get(entry, "path"));

    return slice_is(path, "/") ? slice_of("/*") : path;
}

static void copy_paths(struct json_builder *out, struct json list)
{
    for (struct json_iter i = json_iter(list); json_next(&i);)
        add_path(out, path_in(i.value));
}

enum { KINDS_MAX = 10 }; /* of index that a path may name: three kinds of five types of data are fewer */

static enum status define_kinds(struct op *op, struct json given, struct json_builder *out)
{
    static const char *const members[] = { "kind", "dataType", "precision" };
    struct json kinds;
    enum status st;

    TRY(read_list(op, given, "indexes", KINDS_MAX, &kinds));
    if (json_kind(kinds) == JSON_UNDEFINED)
        goto out;
    json_add_name(out, slice_of("indexes"));
    json_begin_array(out);
    for (struct json_iter i = json_iter(kinds); json_next(&i);) {
        json_begin_object(out);
        for (size_t m = 0; m < sizeof(members) / sizeof(members[0]); m++) {
            struct json value = json_get(i.value, members[m]);

            if (json_kind(value) != JSON_STRING && json_kind(value) != JSON_NUMBER)
                continue;
            json_add_name(out, slice_of(members[m]));
            json_add(out, value);
        }
        json_end(out);
    }
    json_end(out);
out:
    return st;
}

static enum status copy_paths_with_kinds(struct op *op, struct json_builder *out, struct json list)
{
    enum status st = ST_OK;

    for (struct json_iter i = json_iter(list); json_next(&i);) {
        json_begin_object(out);
        json_add_name(out, slice_of("path"));
        json_add_string(out, path_in(i.value));
        TRY(define_kinds(op, i.value, out));
        json_end(out);
    }
out:
    return st;
}

/* The root must stand in exactly one of the two lists; a list left out is filled in. */
static enum status define_paths(struct op *op, struct json policy, bool with_kinds, struct json_builder *out)
{
    struct json included, excluded;
    bool root_in = false, root_out = false, etag = false;
    enum status st;

    TRY(read_list(op, policy, "includedPaths", INDEX_PATHS_MAX, &included));
    TRY(read_list(op, policy, "excludedPaths", INDEX_PATHS_MAX, &excluded));
    TRY(has_root(op, included, &root_in, &etag));
    TRY(has_root(op, excluded, &root_out, &etag));
    if (root_in && root_out)
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "The indexing path '/*' is provided in more than one of the path type sets."));
    TRY(check_apart(op, included, excluded));
    if (!root_in && !root_out && json_kind(included) == JSON_ARRAY && json_count(included) > 0)
        TRY(op_fail(
            op, ST_BAD_REQUEST,
            "The special mandatory indexing path \"/\" is not provided in any of the path type sets. Please "
            "provide this path in one of the sets."));
    json_add_name(out, slice_of("includedPaths"));
    json_begin_array(out);
    if (!root_in && !root_out)
        add_path(out, slice_of("/*"));
    if (with_kinds)
        TRY(copy_paths_with_kinds(op, out, included));
    else
        copy_paths(out, included);
    json_end(out);
    json_add_name(out, slice_of("excludedPaths"));
    json_begin_array(out);
    copy_paths(out, excluded);
    if (!etag)
        add_path(out, slice_of(ETAG_PATH));
    json_end(out);
out:
    return st;
}

static enum status define_composite_path(struct op *op, struct json entry, struct json_builder *out)
{
    struct json path = json_get(entry, "path"), order = json_get(entry, "order");
    struct policy_path parsed;
    bool descending;

    if (json_kind(path) != JSON_STRING || composite_path_parse(&op->arena, json_string(path), &parsed) != 0)
        return op_fail(op, ST_BAD_REQUEST,
                       "The input content is invalid. A composite index path is malformed.");
    if (json_kind(order) != JSON_UNDEFINED &&
        (json_kind(order) != JSON_STRING || !(slice_is_nocase(json_string(order), "ascending") ||
                                              slice_is_nocase(json_string(order), "descending"))))
        return op_fail(
            op, ST_BAD_REQUEST,
            "The input content is invalid. The order of a composite index path must be 'ascending' or "
            "'descending'.");
    descending = json_kind(order) == JSON_STRING && slice_is_nocase(json_string(order), "descending");
    json_begin_object(out);
    json_add_name(out, slice_of("path"));
    json_add(out, path);
    add_text(out, "order", descending ? "descending" : "ascending");
    json_end(out);
    return ST_OK;
}

static enum status define_composites(struct op *op, struct json list, struct json_builder *out)
{
    enum status st = ST_OK;

    json_begin_array(out);
    for (struct json_iter i = json_iter(list); json_next(&i);) {
        if (json_kind(i.value) != JSON_ARRAY || json_count(i.value) < 2)
            TRY(op_fail(op, ST_BAD_REQUEST,
                        "The input content is invalid. A composite index must have at least two paths."));
        if (json_count(i.value) > COMPOSITE_PATHS_MAX)
            TRY(op_fail(op, ST_BAD_REQUEST,
                        "The input content is invalid. A composite index must have at most %d paths.",
                        COMPOSITE_PATHS_MAX));
        json_begin_array(out);
        for (struct json_iter j = json_iter(i.value); json_next(&j);)
            TRY(define_composite_path(op, j.value, out));
        json_end(out);
    }
    json_end(out);
out:
    return st;
}

static const char *const shapes[] = { "Point", "LineString", "Polygon", "MultiPolygon" };

static bool is_shape(struct json value)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        if (json_kind(value) == JSON_STRING && slice_is_nocase(json_string(value), shapes[i]))
            return true;
    return false;
}

static enum status check_shapes(struct op *op, struct slice path, struct json types)
{
    if (json_kind(types) != JSON_UNDEFINED && json_kind(types) != JSON_ARRAY)
        return op_fail(op, ST_BAD_REQUEST,
                       "The input content is invalid. The types of a spatial index must be an array.");
    if (json_kind(types) == JSON_UNDEFINED || json_count(types) == 0)
        return op_fail(
            op, ST_BAD_REQUEST,
            "The spatial data types array cannot be empty. Assign at least one spatial type for the "
            "'types' array for the path '%.*s'.",
            SLICE_ARGS(path));
    for (struct json_iter i = json_iter(types); json_next(&i);)
        if (!is_shape(i.value))
            return op_fail(op, ST_BAD_REQUEST,
                           "The input content is invalid. A spatial index has an unknown type.");
    return ST_OK;
}

static bool is_side(struct json box, const char *low, const char *high)
{
    return json_kind(json_get(box, low)) == JSON_NUMBER && json_kind(json_get(box, high)) == JSON_NUMBER &&
           json_double(json_get(box, low)) < json_double(json_get(box, high));
}

/* A plane needs a box, because its cells are parts of the box. The globe has none. */
static enum status check_box(struct op *op, struct slice path, struct json box, bool is_geometry)
{
    bool given = json_kind(box) != JSON_UNDEFINED && json_kind(box) != JSON_NULL;

    if (!is_geometry)
        return given ? op_fail(op, ST_BAD_REQUEST,
                               "Incorrect parameter 'boundingBox' specified for 'Geography' collection")
                     : ST_OK;
    if (!given)
        return op_fail(
            op, ST_BAD_REQUEST,
            "Required parameter 'boundingBox' for 'Geometry' collection is missing in spatial path '%.*s'",
            SLICE_ARGS(path));
    if (is_side(box, "xmin", "xmax") && is_side(box, "ymin", "ymax"))
        return ST_OK;
    return op_fail(
        op, ST_BAD_REQUEST,
        "The value of parameter 'xmax' must be greater than the value of parameter 'xmin', and that of "
        "'ymax' greater than that of 'ymin', in 'boundingBox' for spatial path '%.*s' of the "
        "'Geometry' collection.",
        SLICE_ARGS(path));
}

static enum status check_spatial(struct op *op, struct json list, bool is_geometry)
{
    struct slice path;
    enum status st = ST_OK;

    for (struct json_iter i = json_iter(list); json_next(&i);) {
        TRY(read_path(op, i.value, &path));
        TRY(check_shapes(op, path, json_get(i.value, "types")));
        TRY(check_box(op, path, json_get(i.value, "boundingBox"), is_geometry));
    }
out:
    return st;
}

bool spatial_index_is_of(struct slice path, struct slice name)
{
    struct slice label;

    return path.size > 1 && path_label(path, 1, &label) && slice_equal(label, name);
}

/* The service indexes every shape, whichever were asked for, and says so. */
static void add_spatial(struct json_builder *out, struct json index)
{
    struct json box = json_get(index, "boundingBox");

    json_begin_object(out);
    json_add_name(out, slice_of("path"));
    json_add(out, json_get(index, "path"));
    json_add_name(out, slice_of("types"));
    json_begin_array(out);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        json_add_string(out, slice_of(shapes[i]));
    json_end(out);
    if (json_kind(box) == JSON_OBJECT) {
        json_add_name(out, slice_of("boundingBox"));
        json_add(out, box);
    }
    json_end(out);
}

static enum status define_spatial(struct op *op, struct json policy, bool is_geometry,
                                  struct json_builder *out)
{
    struct json list;
    enum status st;

    TRY(read_list(op, policy, "spatialIndexes", INDEX_PATHS_MAX, &list));
    if (json_kind(list) != JSON_ARRAY || json_count(list) == 0)
        goto out;
    TRY(check_spatial(op, list, is_geometry));
    json_add_name(out, slice_of("spatialIndexes"));
    json_begin_array(out);
    for (struct json_iter i = json_iter(list); json_next(&i);)
        add_spatial(out, i.value);
    json_end(out);
out:
    return st;
}

/* These kinds of index are echoed as they came. definition.c compares them with their policies. */
static const char *const other_indexes[] = { "vectorIndexes", "fullTextIndexes" };

static enum status define_other_indexes(struct op *op, struct json policy, bool is_geometry,
                                        struct json_builder *out)
{
    struct json list;
    enum status st;

    TRY(read_list(op, policy, "compositeIndexes", COMPOSITE_INDEXES_MAX, &list));
    if (json_kind(list) == JSON_ARRAY && json_count(list) > 0) {
        json_add_name(out, slice_of("compositeIndexes"));
        TRY(define_composites(op, list, out));
    }
    TRY(define_spatial(op, policy, is_geometry, out));
    for (size_t i = 0; i < sizeof(other_indexes) / sizeof(other_indexes[0]); i++) {
        TRY(read_list(op, policy, other_indexes[i], INDEX_PATHS_MAX, &list));
        if (json_kind(list) != JSON_ARRAY || json_count(list) == 0)
            continue;
        json_add_name(out, slice_of(other_indexes[i]));
        json_add(out, list);
    }
out:
    return st;
}

static bool mode_is(struct json mode, const char *name)
{
    return json_kind(mode) == JSON_STRING && slice_is_nocase(json_string(mode), name);
}

/* Lazy is a mode of old: the service takes it, and indexes consistently. */
static enum status read_mode(struct op *op, struct json policy, bool is_old, const char **name, bool *none)
{
    struct json mode = json_get(policy, "indexingMode"), automatic = json_get(policy, "automatic");
    bool lazy = mode_is(mode, "lazy");

    *none = mode_is(mode, "none");
    *name = *none ? "none" : lazy && is_old ? "lazy" : "consistent";
    if (json_kind(mode) != JSON_UNDEFINED && !*none && !lazy && !mode_is(mode, "consistent"))
        return op_fail(
            op, ST_BAD_REQUEST,
            "The input content is invalid. 'indexingMode' must be one of 'consistent' and 'none'.");
    if (json_kind(automatic) != JSON_UNDEFINED && json_kind(automatic) != JSON_TRUE &&
        json_kind(automatic) != JSON_FALSE)
        return op_fail(op, ST_BAD_REQUEST, "The input content is invalid. 'automatic' must be a boolean.");
    if (*none && json_kind(automatic) == JSON_TRUE)
        return op_fail(
            op, ST_BAD_REQUEST,
            "The input content is invalid. 'automatic' must be false when 'indexingMode' is 'none'.");
    return ST_OK;
}

enum status indexing_policy_define(struct op *op, struct json policy, struct indexing_options options,
                                   struct json_builder *out)
{
    const char *mode;
    bool none;
    enum status st;

    if (json_kind(policy) != JSON_OBJECT && json_kind(policy) != JSON_UNDEFINED &&
        json_kind(policy) != JSON_NULL)
        TRY(op_fail(op, ST_BAD_REQUEST, "The input content is invalid. 'indexingPolicy' must be an object."));
    TRY(read_mode(op, policy, options.is_old, &mode, &none));
    json_begin_object(out);
    add_text(out, "indexingMode", mode);
    json_add_name(out, slice_of("automatic"));
    json_add_bool(out, !none && !(options.is_old && json_kind(json_get(policy, "automatic")) == JSON_FALSE));
    if (none) {
        json_add_name(out, slice_of("includedPaths"));
        json_begin_array(out);
        json_end(out);
        json_add_name(out, slice_of("excludedPaths"));
        json_begin_array(out);
        json_end(out);
    } else {
        TRY(define_paths(op, policy, options.is_keyless, out));
        TRY(define_other_indexes(op, policy, options.is_geometry, out));
    }
    json_end(out);
out:
    return st;
}
