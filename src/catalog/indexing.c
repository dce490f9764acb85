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

/* A member of the policy that is a list; undefined and null are no list. */
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

static enum status has_root(struct op *op, struct json list, bool *root, bool *etag)
{
    for (struct json_iter i = json_iter(list); json_next(&i);) {
        struct slice path = { 0 };
        enum status st = read_path(op, i.value, &path);

        if (st != ST_OK)
            return st;
        *root |= is_root(path);
        *etag |= slice_is(path, ETAG_PATH);
    }
    return ST_OK;
}

static void copy_paths(struct json_builder *out, struct json list)
{
    for (struct json_iter i = json_iter(list); json_next(&i);) {
        struct slice path = json_string(json_get(i.value, "path"));

        add_path(out, slice_is(path, "/") ? slice_of("/*") : path);
    }
}

/* The root must stand in exactly one of the two lists; a list left out is filled in. */
static enum status define_paths(struct op *op, struct json policy, struct json_builder *out)
{
    struct json included, excluded;
    bool root_in = false, root_out = false, etag = false, unused = false;
    enum status st;

    TRY(read_list(op, policy, "includedPaths", INDEX_PATHS_MAX, &included));
    TRY(read_list(op, policy, "excludedPaths", INDEX_PATHS_MAX, &excluded));
    TRY(has_root(op, included, &root_in, &unused));
    TRY(has_root(op, excluded, &root_out, &etag));
    if (root_in && root_out)
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "The indexing path '/*' is provided in more than one of the path type sets."));
    if (!root_in && !root_out && json_kind(included) == JSON_ARRAY && json_count(included) > 0)
        TRY(op_fail(
            op, ST_BAD_REQUEST,
            "The special mandatory indexing path \"/\" is not provided in any of the path type sets. Please "
            "provide this path in one of the sets."));
    json_add_name(out, slice_of("includedPaths"));
    json_begin_array(out);
    if (!root_in && !root_out)
        add_path(out, slice_of("/*"));
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

static bool is_one_of(struct json value, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (json_kind(value) == JSON_STRING && slice_is_nocase(json_string(value), words[i]))
            return true;
    return false;
}

static enum status check_spatial(struct op *op, struct json list, bool is_geometry)
{
    static const char *const shapes[] = { "Point", "LineString", "Polygon", "MultiPolygon" };

    for (struct json_iter i = json_iter(list); json_next(&i);) {
        struct slice path = { 0 };
        enum status st = read_path(op, i.value, &path);

        if (st != ST_OK)
            return st;
        for (struct json_iter j = json_iter(json_get(i.value, "types")); json_next(&j);)
            if (!is_one_of(j.value, shapes, 4))
                return op_fail(op, ST_BAD_REQUEST,
                               "The input content is invalid. A spatial index has an unknown type.");
        if (is_geometry && json_kind(json_get(i.value, "boundingBox")) != JSON_OBJECT)
            return op_fail(
                op, ST_BAD_REQUEST,
                "The input content is invalid. A spatial index over geometry must have a bounding box.");
    }
    return ST_OK;
}

static enum status check_vectors(struct op *op, struct json list, bool is_geometry)
{
    static const char *const kinds[] = { "flat", "quantizedFlat", "diskANN" };

    (void)is_geometry;
    for (struct json_iter i = json_iter(list); json_next(&i);)
        if (json_kind(json_get(i.value, "path")) != JSON_STRING ||
            !is_one_of(json_get(i.value, "type"), kinds, 3))
            return op_fail(
                op, ST_BAD_REQUEST,
                "The input content is invalid. A vector index needs a path and one of the types flat, "
                "quantizedFlat, diskANN.");
    return ST_OK;
}

static enum status check_full_text(struct op *op, struct json list, bool is_geometry)
{
    (void)is_geometry;
    for (struct json_iter i = json_iter(list); json_next(&i);)
        if (json_kind(json_get(i.value, "path")) != JSON_STRING)
            return op_fail(op, ST_BAD_REQUEST,
                           "The input content is invalid. A full text index needs a path.");
    return ST_OK;
}

/* The kinds of index that are echoed as they came, once looked at. */
static const struct {
    const char *name;
    enum status (*check)(struct op *op, struct json list, bool is_geometry);
} other_indexes[] = {
    { "spatialIndexes", check_spatial },
    { "vectorIndexes", check_vectors },
    { "fullTextIndexes", check_full_text },
};

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
    for (size_t i = 0; i < sizeof(other_indexes) / sizeof(other_indexes[0]); i++) {
        TRY(read_list(op, policy, other_indexes[i].name, INDEX_PATHS_MAX, &list));
        TRY(other_indexes[i].check(op, list, is_geometry));
        if (json_kind(list) != JSON_ARRAY || json_count(list) == 0)
            continue;
        json_add_name(out, slice_of(other_indexes[i].name));
        json_add(out, list);
    }
out:
    return st;
}

static enum status read_mode(struct op *op, struct json policy, bool *none)
{
    struct json mode = json_get(policy, "indexingMode"), automatic = json_get(policy, "automatic");

    *none = json_kind(mode) == JSON_STRING && slice_is_nocase(json_string(mode), "none");
    if (json_kind(mode) != JSON_UNDEFINED && !*none &&
        !(json_kind(mode) == JSON_STRING && slice_is_nocase(json_string(mode), "consistent")))
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

enum status indexing_policy_define(struct op *op, struct json policy, bool is_geometry,
                                   struct json_builder *out)
{
    bool none;
    enum status st;

    if (json_kind(policy) != JSON_OBJECT && json_kind(policy) != JSON_UNDEFINED &&
        json_kind(policy) != JSON_NULL)
        TRY(op_fail(op, ST_BAD_REQUEST, "The input content is invalid. 'indexingPolicy' must be an object."));
    TRY(read_mode(op, policy, &none));
    json_begin_object(out);
    add_text(out, "indexingMode", none ? "none" : "consistent");
    json_add_name(out, slice_of("automatic"));
    json_add_bool(out, !none && json_kind(json_get(policy, "automatic")) != JSON_FALSE);
    if (none) {
        json_add_name(out, slice_of("includedPaths"));
        json_begin_array(out);
        json_end(out);
        json_add_name(out, slice_of("excludedPaths"));
        json_begin_array(out);
        json_end(out);
    } else {
        TRY(define_paths(op, policy, out));
        TRY(define_other_indexes(op, policy, is_geometry, out));
    }
    json_end(out);
out:
    return st;
}
