/* src/catalog/definition.c - what a container may be made of, property by property. */
#include <assert.h>

#include "base/limits.h"
#include "catalog/definition.h"
#include "catalog/indexing.h"
#include "catalog/search_policy.h"

static bool is_absent(struct json value)
{
    return json_kind(value) == JSON_UNDEFINED || json_kind(value) == JSON_NULL;
}

static bool text_is(struct json value, const char *text)
{
    return json_kind(value) == JSON_STRING && slice_is_nocase(json_string(value), text);
}

static void add_text(struct json_builder *out, const char *name, const char *text)
{
    json_add_name(out, slice_of(name));
    json_add_string(out, slice_of(text));
}

/* Counts UTF-16 units, as the service does: a code point above U+FFFF is two. */
static size_t utf16_length(struct slice text)
{
    size_t length = 0;

    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];

        length += (c & 0xc0) != 0x80;
        length += c >= 0xf0;
    }
    return length;
}

enum status resource_id_check(struct op *op, struct json id)
{
    struct slice text;

    if (is_absent(id))
        return op_fail(op, ST_BAD_REQUEST,
                       "The input content is invalid because the required properties - 'id; ' - are missing");
    if (json_kind(id) != JSON_STRING)
        return op_fail_as(op, ST_BAD_REQUEST);
    text = json_string(id);
    if (text.size == 0 || utf16_length(text) > RESOURCE_ID_CHARS_MAX)
        return op_fail(
            op, ST_BAD_REQUEST,
            "The input name '%.*s' is invalid. Ensure to provide a unique non-empty string less than '255' "
            "characters.",
            text.size > 300 ? 300 : (int)text.size, text.data);
    for (size_t i = 0; i < text.size; i++)
        if (strchr("/\\?#", text.data[i]))
            return op_fail(op, ST_BAD_REQUEST, "The resource name presented contains invalid character '%c'.",
                           text.data[i]);
    if (text.data[text.size - 1] == ' ')
        return op_fail(op, ST_BAD_REQUEST, "The resource name can't end with space.");
    return ST_OK;
}

/* --- partitionKey --- */

static enum status check_key_paths(struct op *op, struct json paths, size_t most)
{
    if (json_kind(paths) != JSON_ARRAY || json_count(paths) == 0)
        return op_fail(op, ST_BAD_REQUEST, "Partition key paths cannot be empty.");
    if (json_count(paths) > most)
        return op_fail(op, ST_BAD_REQUEST,
                       "Too many partition key paths (%zu) specified. A maximum of %zu is allowed.",
                       json_count(paths), most);
    for (struct json_iter i = json_iter(paths); json_next(&i);) {
        struct key_path parsed;

        if (json_kind(i.value) != JSON_STRING || json_string(i.value).size > PATH_BYTES_MAX ||
            !key_path_parse(json_string(i.value), &parsed) || key_path_has_bare_space(json_string(i.value)))
            return op_fail(
                op, ST_BAD_REQUEST,
                "The partition key component definition path '%.*s' could not be accepted. Partition key "
                "paths must contain only valid characters and not contain a trailing slash or wildcard "
                "character.",
                json_kind(i.value) == JSON_STRING ? (int)json_string(i.value).size : 0,
                json_kind(i.value) == JSON_STRING ? json_string(i.value).data : "");
    }
    return ST_OK;
}

/* A number, or "V2" as the Java SDK writes it. 0 when there is none. */
static enum status read_key_version(struct op *op, struct json given, bool multi, int *version)
{
    bool is_number = json_kind(given) == JSON_NUMBER && json_is_int(given);

    *version = 0;
    for (int known = 1; known <= 2; known++)
        if ((is_number && json_int(given) == known) || text_is(given, known == 1 ? "V1" : "V2"))
            *version = known;
    if (*version == 0 && !is_absent(given))
        return op_fail(op, ST_BAD_REQUEST, "The partition key version must be 1 or 2.");
    if (multi && *version == 1)
        return op_fail(op, ST_BAD_REQUEST, "Subpartitioning is only supported for Hash V2. ");
    return ST_OK;
}

/* For containers of old clients, which name no partition key: all items lie in one logical partition. */
static void add_system_key(struct json_builder *out, struct json paths)
{
    json_begin_object(out);
    json_add_name(out, slice_of("paths"));
    if (json_kind(paths) == JSON_ARRAY && json_count(paths) == 1) {
        json_add(out, paths);
    } else {
        json_begin_array(out);
        json_add_string(out, slice_of("/_partitionKey"));
        json_end(out);
    }
    add_text(out, "kind", "Hash");
    json_add_name(out, slice_of("systemKey"));
    json_add_bool(out, true);
    json_end(out);
}

static enum status define_system_key(struct op *op, struct json key, struct define_options options,
                                     struct json_builder *out)
{
    struct json paths = json_get(key, "paths");
    enum status st = ST_OK;

    if (is_absent(key) && !options.is_old)
        TRY(op_fail(op, ST_BAD_REQUEST, "A Partition key definition is not specified in the request."));
    if (!is_absent(paths))
        TRY(check_key_paths(op, paths, 1));
    add_system_key(out, paths);
out:
    return st;
}

static enum status define_key(struct op *op, struct json key, struct define_options options,
                              struct json_builder *out)
{
    struct json kind = json_get(key, "kind");
    bool multi = text_is(kind, "MultiHash");
    int version;
    enum status st = ST_OK;

    if (is_absent(key) || json_kind(json_get(key, "systemKey")) == JSON_TRUE)
        return define_system_key(op, key, options, out);
    if (!is_absent(kind) && !multi && !text_is(kind, "Hash") && !text_is(kind, "Range"))
        TRY(op_fail(op, ST_BAD_REQUEST, "The partition key kind must be one of Hash, MultiHash and Range."));
    TRY(check_key_paths(op, json_get(key, "paths"), multi ? PARTITION_KEY_PATHS_MAX : 1));
    TRY(read_key_version(op, json_get(key, "version"), multi, &version));
    json_begin_object(out);
    json_add_name(out, slice_of("paths"));
    json_add(out, json_get(key, "paths"));
    add_text(out, "kind", multi ? "MultiHash" : text_is(kind, "Range") ? "Range" : "Hash");
    if (version || multi) { /* a version that the client left out stays out, and means 1 */
        json_add_name(out, slice_of("version"));
        json_add_int(out, multi ? 2 : version);
    }
    json_end(out);
out:
    return st;
}

void container_read_key(struct container *container)
{
    struct json key = json_get(container->definition, "partitionKey");
    struct json version = json_get(key, "version");
    size_t count = 0;

    container->system_key = definition_has_system_key(container->definition);
    container->epk_version = json_kind(version) == JSON_NUMBER && json_int(version) == 2 ? EPK_V2 : EPK_V1;
    if (text_is(json_get(key, "kind"), "MultiHash"))
        container->epk_version = EPK_MULTI;
    assert(json_count(json_get(key, "paths")) <= PARTITION_KEY_PATHS_MAX); /* define_key() refuses more */
    for (struct json_iter i = json_iter(json_get(key, "paths")); json_next(&i);)
        key_path_parse(json_string(i.value), &container->key_path[count++]);
    container->key_path_count = count;
}

/* --- the other properties, each with its check; they are echoed as they came --- */

static enum status check_unique_paths(struct op *op, struct json paths)
{
    struct key_path parsed;

    if (json_kind(paths) != JSON_ARRAY || json_count(paths) == 0)
        return op_fail(op, ST_BAD_REQUEST, "Unique key paths cannot be empty.");
    if (json_count(paths) > UNIQUE_KEY_PATHS_MAX)
        return op_fail(op, ST_BAD_REQUEST,
                       "Too many unique key paths (%zu) specified. A maximum of %d is allowed.",
                       json_count(paths), UNIQUE_KEY_PATHS_MAX);
    for (struct json_iter i = json_iter(paths); json_next(&i);)
        if (json_kind(i.value) != JSON_STRING || !key_path_parse(json_string(i.value), &parsed))
            return op_fail(op, ST_BAD_REQUEST, "A unique key path is malformed.");
    return ST_OK;
}

static enum status check_unique_keys(struct op *op, struct json policy)
{
    struct json keys = json_get(policy, "uniqueKeys");
    enum status st = ST_OK;

    if (json_kind(policy) != JSON_OBJECT || (json_kind(keys) != JSON_ARRAY && !is_absent(keys)))
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "The input content is invalid. 'uniqueKeyPolicy' must have 'uniqueKeys'."));
    if (json_kind(keys) == JSON_ARRAY && json_count(keys) > UNIQUE_KEYS_MAX)
        TRY(op_fail(op, ST_BAD_REQUEST, "Too many unique keys (%zu) specified. A maximum of %d is allowed.",
                    json_count(keys), UNIQUE_KEYS_MAX));
    for (struct json_iter i = json_iter(keys); json_next(&i);)
        TRY(check_unique_paths(op, json_get(i.value, "paths")));
out:
    return st;
}

static struct json unique_keys_of(struct json definition)
{
    return json_get(json_get(definition, "uniqueKeyPolicy"), "uniqueKeys");
}

bool definition_has_system_key(struct json definition)
{
    return json_kind(json_get(json_get(definition, "partitionKey"), "systemKey")) == JSON_TRUE;
}

bool definition_has_unique_keys(struct json definition)
{
    return json_kind(unique_keys_of(definition)) == JSON_ARRAY && json_count(unique_keys_of(definition)) > 0;
}

static struct unique_key read_unique_key(struct arena *memory, struct json paths)
{
    struct unique_key key = { .path = arena_alloc(memory, json_count(paths) * sizeof(*key.path)) };

    for (struct json_iter i = json_iter(paths); json_next(&i);)
        key_path_parse(json_string(i.value), &key.path[key.path_count++]);
    return key;
}

void container_read_unique_keys(struct container *container)
{
    struct json keys = unique_keys_of(container->definition);
    struct arena *memory = &container->memory;

    container->unique_key = arena_alloc(memory, json_count(keys) * sizeof(*container->unique_key));
    for (struct json_iter i = json_iter(keys); json_next(&i);)
        container->unique_key[container->unique_key_count++] =
            read_unique_key(memory, json_get(i.value, "paths"));
}

static enum status check_conflict_policy(struct op *op, struct json policy)
{
    struct json mode = json_get(policy, "mode");

    if (json_kind(policy) != JSON_OBJECT ||
        !(is_absent(mode) || text_is(mode, "LastWriterWins") || text_is(mode, "Custom")))
        return op_fail(op, ST_BAD_REQUEST,
                       "Invalid mode for setting 'conflictResolutionPolicy'. Mode expected is "
                       "'LastWriterWins' or 'Custom'.");
    return ST_OK;
}

static enum status check_geospatial(struct op *op, struct json config)
{
    struct json type = json_get(config, "type");

    if (json_kind(config) != JSON_OBJECT || !(text_is(type, "Geography") || text_is(type, "Geometry")))
        return op_fail(op, ST_BAD_REQUEST, "The geospatial type must be one of Geography and Geometry.");
    return ST_OK;
}

enum status ttl_check(struct op *op, struct json ttl)
{
    bool valid = json_kind(ttl) == JSON_NUMBER && json_is_int(ttl) &&
                 (json_int(ttl) == -1 || (json_int(ttl) > 0 && json_int(ttl) <= INT32_MAX));
    struct buf text;

    if (valid)
        return ST_OK;
    buf_init(&text, &op->arena);
    json_print(&text, ttl);
    return op_fail(
        op, ST_BAD_REQUEST,
        "The input ttl '%.*s' is invalid. Ensure to provide a nonzero positive integer less than or equal to "
        "'2147483647', or '-1' which means never expire.",
        SLICE_ARGS(buf_as_slice(&text)));
}

void container_read_ttl(struct container *container)
{
    struct json ttl = json_get(container->definition, "defaultTtl");

    container->default_ttl = json_kind(ttl) == JSON_NUMBER ? (int32_t)json_int(ttl) : TTL_OFF;
}

/* It is kept and does nothing: docs/compat.md. */
static enum status check_ttl_path(struct op *op, struct json path)
{
    struct key_path parsed;

    if (json_kind(path) != JSON_STRING || !key_path_parse(json_string(path), &parsed))
        return op_fail_as(op, ST_BAD_REQUEST);
    return ST_OK;
}

static enum status check_analytical_ttl(struct op *op, struct json ttl)
{
    if (json_kind(ttl) != JSON_NUMBER || !json_is_int(ttl) || json_int(ttl) < -1 || json_int(ttl) > INT32_MAX)
        return op_fail(op, ST_BAD_REQUEST, "The input analyticalStorageTtl is invalid.");
    return ST_OK;
}

static enum status check_computed_text(struct op *op, struct json property, const char *member)
{
    struct json text = json_get(property, member);

    if (json_kind(text) != JSON_STRING)
        return op_fail_as(op, ST_BAD_REQUEST);
    if (json_string(text).size == 0)
        return op_fail(op, ST_BAD_REQUEST, "Computed property '%s' is either empty or unspecified.", member);
    return ST_OK;
}

static enum status check_computed_name(struct op *op, struct slice name)
{
    static const char *const taken[] = { "id", "_rid", "_ts", "_self", "_etag", "_attachments" };

    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (slice_is(name, taken[i]))
            return op_fail(op, ST_BAD_REQUEST,
                           "The system property name '%s' cannot be used as a computed property name.",
                           taken[i]);
    return ST_OK;
}

static enum status check_computed(struct op *op, struct json list)
{
    enum status st = ST_OK;

    if (json_kind(list) != JSON_ARRAY)
        TRY(op_fail_as(op, ST_BAD_REQUEST));
    for (struct json_iter i = json_iter(list); json_next(&i);) {
        TRY(check_computed_text(op, i.value, "name"));
        TRY(check_computed_text(op, i.value, "query"));
        TRY(check_computed_name(op, json_string(json_get(i.value, "name"))));
    }
out:
    return st;
}

static enum status check_object(struct op *op, struct json value)
{
    if (json_kind(value) != JSON_OBJECT)
        return op_fail_as(op, ST_BAD_REQUEST);
    return ST_OK;
}

/* Whole minutes; 0 keeps nothing for the feed of all versions. */
static enum status check_feed_policy(struct op *op, struct json policy)
{
    struct json minutes = json_get(policy, "retentionDuration");

    if (json_kind(policy) != JSON_OBJECT)
        return op_fail_as(op, ST_BAD_REQUEST);
    if (!is_absent(minutes) && (json_kind(minutes) != JSON_NUMBER || !json_is_int(minutes) ||
                                json_int(minutes) < 0 || json_int(minutes) > INT32_MAX))
        return op_fail(op, ST_BAD_REQUEST,
                       "The retentionDuration of the change feed policy must be a whole number of minutes.");
    return ST_OK;
}

void container_read_retention(struct container *container)
{
    struct json minutes = json_get(json_get(container->definition, "changeFeedPolicy"), "retentionDuration");

    container->retention_minutes = json_kind(minutes) == JSON_NUMBER && json_is_int(minutes)
                                       ? (int32_t)json_int(minutes)
                                       : RETENTION_DEFAULT;
}

#define LAST_WRITER_WINS \
    "{\"mode\":\"LastWriterWins\",\"conflictResolutionPath\":\"/_ts\",\"conflictResolutionProcedure\":\"\"}"

/* In the order of the echo. A default is what the service fills in when the client says nothing. */
static const struct {
    const char *name;
    enum status (*check)(struct op *op, struct json value);
    const char *fallback;
    bool stays; /* a replace that leaves it out keeps it; the service wants unique keys said again */
    bool refuses_null;
} properties[] = {
    { "uniqueKeyPolicy", check_unique_keys, "{\"uniqueKeys\":[]}", false, false },
    { "conflictResolutionPolicy", check_conflict_policy, LAST_WRITER_WINS, true, false },
    { "geospatialConfig", check_geospatial, "{\"type\":\"Geography\"}", false, false },
    { "defaultTtl", ttl_check, NULL, false, true },
    { "ttlPropertyPath", check_ttl_path, NULL, false, false },
    { "analyticalStorageTtl", check_analytical_ttl, NULL, false, false },
    { "vectorEmbeddingPolicy", embedding_policy_check, NULL, true, false },
    { "fullTextPolicy", full_text_policy_check, NULL, false, false },
    { "computedProperties", check_computed, NULL, false, false },
    { "changeFeedPolicy", check_feed_policy, NULL, false, false },
    { "clientEncryptionPolicy", check_object, NULL, false, false },
};

static enum status define_others(struct op *op, struct json body, struct json old, struct json_builder *out)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
        struct json value = json_get(body, properties[i].name);

        if (is_absent(value) && properties[i].stays)
            value = json_get(old, properties[i].name);
        if (is_absent(value) && !(properties[i].refuses_null && json_kind(value) == JSON_NULL)) {
            if (!properties[i].fallback)
                continue;
            TRY(json_parse(op, slice_of(properties[i].fallback), &value));
        }
        TRY(properties[i].check(op, value));
        json_add_name(out, slice_of(properties[i].name));
        json_add(out, value);
    }
out:
    return st;
}

/* What is computed is no shape that a spatial index could have. */
static enum status check_computed_spatial(struct op *op, struct json computed, struct json indexes)
{
    size_t at = 0;

    for (struct json_iter i = json_iter(computed); json_next(&i); at++)
        for (struct json_iter k = json_iter(indexes); json_next(&k);) {
            struct slice name = json_string(json_get(i.value, "name"));

            if (spatial_index_is_of(json_string(json_get(k.value, "path")), name))
                return op_fail(
                    op, ST_BAD_REQUEST,
                    "Computed property '%.*s' at index (%zu) has a spatial index. Remove the spatial "
                    "index on this path.",
                    SLICE_ARGS(name), at);
        }
    return ST_OK;
}

/*
 * Checks properties that depend on each other: vector and full-text indexes on their policies, defaultTtl on an
 * index.
 */
static enum status check_together(struct op *op, struct json definition, struct json body)
{
    struct json policy = json_get(definition, "indexingPolicy");
    enum status st;

    TRY(vector_indexes_check(op, json_get(policy, "vectorIndexes"), body));
    TRY(full_text_indexes_check(op, json_get(policy, "fullTextIndexes"), body));
    TRY(check_computed_spatial(op, json_get(definition, "computedProperties"),
                               json_get(policy, "spatialIndexes")));
    if (!is_absent(json_get(definition, "ttlPropertyPath")) && is_absent(json_get(definition, "defaultTtl")))
        TRY(op_fail(op, ST_BAD_REQUEST, "The 'ttlPropertyPath' must not be set when 'defaultTtl' is not."));
    if (text_is(json_get(policy, "indexingMode"), "none") && !is_absent(json_get(definition, "defaultTtl")))
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "The time to live needs an index: 'defaultTtl' must not be set when 'indexingMode' is "
                    "'none'."));
out:
    return st;
}

enum status container_define(struct op *op, struct json body, struct define_options options,
                             struct json *definition)
{
    struct indexing_options indexing = { .is_old = options.is_old };
    struct json_builder out;
    enum status st;

    if (json_kind(body) != JSON_OBJECT)
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "The request payload is invalid. Ensure to provide a valid request payload."));
    TRY(resource_id_check(op, json_get(body, "id")));
    indexing.is_geometry = text_is(json_get(json_get(body, "geospatialConfig"), "type"), "Geometry");
    indexing.is_keyless = is_absent(json_get(body, "partitionKey"));
    json_builder_init(&out, &op->arena);
    json_begin_object(&out);
    json_add_name(&out, slice_of("id"));
    json_add(&out, json_get(body, "id"));
    json_add_name(&out, slice_of("indexingPolicy"));
    TRY(indexing_policy_define(op, json_get(body, "indexingPolicy"), indexing, &out));
    json_add_name(&out, slice_of("partitionKey"));
    TRY(define_key(op, json_get(body, "partitionKey"), options, &out));
    TRY(define_others(op, body, options.old, &out));
    json_end(&out);
    *definition = json_built(&out);
    if (json_kind(*definition) == JSON_UNDEFINED)
        TRY(op_fail_as(op, ST_TOO_LARGE));
    TRY(check_together(op, *definition, body));
out:
    return st;
}

/* --- replacing --- */

static struct slice text_or(struct json value, const char *otherwise)
{
    return json_kind(value) == JSON_STRING ? json_string(value) : slice_of(otherwise);
}

/* A client may create the policy in short, and an SDK then sends it in full, with the mode in its own case. */
static bool same_conflict_policy(struct json a, struct json b)
{
    bool custom = text_is(json_get(a, "mode"), "Custom");
    const char *path = custom ? "" : "/_ts";

    return custom == text_is(json_get(b, "mode"), "Custom") &&
           slice_equal(text_or(json_get(a, "conflictResolutionPath"), path),
                       text_or(json_get(b, "conflictResolutionPath"), path)) &&
           slice_equal(text_or(json_get(a, "conflictResolutionProcedure"), ""),
                       text_or(json_get(b, "conflictResolutionProcedure"), ""));
}

static struct json of_path(struct json list, struct json path)
{
    for (struct json_iter i = json_iter(list); json_next(&i);)
        if (json_equal(json_get(i.value, "path"), path))
            return i.value;
    return json_undefined;
}

/* A replacement may add and drop embeddings, but must not change one. */
static bool keeps_embeddings(struct json old, struct json definition)
{
    struct json before = json_get(json_get(old, "vectorEmbeddingPolicy"), "vectorEmbeddings");
    struct json after = json_get(json_get(definition, "vectorEmbeddingPolicy"), "vectorEmbeddings");

    for (struct json_iter i = json_iter(before); json_next(&i);) {
        struct json now = of_path(after, json_get(i.value, "path"));

        if (json_kind(now) != JSON_UNDEFINED && !json_equal(i.value, now))
            return false;
    }
    return true;
}

/* A replacement may drop a vector index, but must not change its type. */
static bool keeps_vector_indexes(struct json old, struct json definition)
{
    struct json before = json_get(json_get(old, "indexingPolicy"), "vectorIndexes");
    struct json after = json_get(json_get(definition, "indexingPolicy"), "vectorIndexes");

    for (struct json_iter i = json_iter(before); json_next(&i);) {
        struct json now = of_path(after, json_get(i.value, "path"));

        if (json_kind(now) != JSON_UNDEFINED && !json_equal(json_get(i.value, "type"), json_get(now, "type")))
            return false;
    }
    return true;
}

static bool is_same(struct json old, struct json definition, const char *name)
{
    struct json a = json_get(old, name), b = json_get(definition, name);

    return is_absent(a) ? is_absent(b) : json_equal(a, b);
}

static enum status check_policies(struct op *op, struct json old, struct json definition)
{
    const char *name = "conflictResolutionPolicy";

    if (!same_conflict_policy(json_get(old, name), json_get(definition, name)))
        return op_fail(op, ST_BAD_REQUEST,
                       "The conflict resolution policy of a container cannot be changed.");
    if (!is_same(old, definition, "clientEncryptionPolicy"))
        return op_fail(op, ST_BAD_REQUEST,
                       "'clientEncryptionPolicy' cannot be changed as part of collection replace operation.");
    if (!keeps_vector_indexes(old, definition))
        return op_fail(op, ST_BAD_REQUEST,
                       "Paths in existing vector indexing policy cannot be modified in Collection Replace");
    if (!keeps_embeddings(old, definition))
        return op_fail(op, ST_BAD_REQUEST,
                       "Paths in existing embedding policy cannot be modified in Collection Replace");
    return ST_OK;
}

enum status container_check_replace(struct op *op, struct json old, struct json definition)
{
    if (!json_equal(json_get(old, "id"), json_get(definition, "id")))
        return op_fail(op, ST_BAD_REQUEST, "The id of a container cannot be changed.");
    if (!json_equal(json_get(old, "partitionKey"), json_get(definition, "partitionKey")))
        return op_fail(op, ST_BAD_REQUEST, "Document collection partition key cannot be changed.");
    if (!json_equal(json_get(old, "uniqueKeyPolicy"), json_get(definition, "uniqueKeyPolicy")))
        return op_fail(op, ST_FORBIDDEN,
                       "The unique index cannot be modified. To change the unique index, remove the "
                       "collection and re-create a new one.");
    return check_policies(op, old, definition);
}
