/* src/catalog/search_policy.c - what the policies for vectors and for full text may say. */
#include "base/limits.h"
#include "catalog/search_policy.h"
#include "text/language.h"

/* A value of any kind, as it stands in a message. */
static struct slice shown(struct op *op, struct json value)
{
    struct buf text;

    if (json_kind(value) == JSON_STRING)
        return json_string(value);
    buf_init(&text, &op->arena);
    if (json_kind(value) != JSON_UNDEFINED)
        json_print(&text, value);
    return buf_as_slice(&text);
}

/* Words end with NULL. */
static bool is_one_of(struct json value, const char *const *words)
{
    while (json_kind(value) == JSON_STRING && *words)
        if (slice_is_nocase(json_string(value), *words++))
            return true;
    return false;
}

/* Whether a step is a wildcard, or stands for elements of an array. */
static bool has_many(struct slice path)
{
    static const char *const many[] = { "/*", "/?", "/[]" };
    bool quoted = false;

    for (size_t at = 0; at < path.size; at++) {
        quoted ^= path.data[at] == '"';
        for (size_t i = 0; i < sizeof(many) / sizeof(many[0]) && !quoted; i++) {
            struct slice rest = slice_after(path, at), step = slice_of(many[i]);

            if (rest.size >= step.size && memcmp(rest.data, step.data, step.size) == 0 &&
                (rest.size == step.size || rest.data[step.size] == '/'))
                return true;
        }
    }
    return false;
}

/* From the document down to one place. */
static bool is_path(struct json path)
{
    return json_kind(path) == JSON_STRING && json_string(path).size > 1 && json_string(path).data[0] == '/' &&
           !has_many(json_string(path));
}

/* The element of a list that has this path; undefined when there is none. */
static struct json of_path(struct json list, struct json path)
{
    for (struct json_iter i = json_iter(list); json_next(&i);)
        if (json_equal(json_get(i.value, "path"), path))
            return i.value;
    return json_undefined;
}

/* No path is named twice. */
static enum status check_repeated(struct op *op, struct json list, const char *policy)
{
    size_t at = 0;

    for (struct json_iter i = json_iter(list); json_next(&i); at++) {
        struct json path = json_get(i.value, "path");
        size_t before = 0;

        for (struct json_iter k = json_iter(list); before < at && json_next(&k); before++)
            if (json_equal(json_get(k.value, "path"), path))
                return op_fail(op, ST_BAD_REQUEST, "Duplicate Path :%.*s found in %s.",
                               SLICE_ARGS(shown(op, path)), policy);
    }
    return ST_OK;
}

/* ------- vectors ------- */

static bool is_missing(struct json member)
{
    return json_kind(member) == JSON_UNDEFINED || json_kind(member) == JSON_NULL;
}

/* Of an embedding that was checked. */
static int64_t dimensions_of(struct json embedding)
{
    struct json dimensions = json_get(embedding, "dimensions");

    return json_kind(dimensions) == JSON_NUMBER ? json_int(dimensions) : VECTOR_DIMENSIONS_DEFAULT;
}

static enum status check_dimensions(struct op *op, struct json dimensions)
{
    if (is_missing(dimensions))
        return ST_OK;
    if (json_kind(dimensions) != JSON_NUMBER || !json_is_int(dimensions))
        return op_fail_as(op, ST_BAD_REQUEST);
    if (json_int(dimensions) < 1)
        return op_fail(op, ST_BAD_REQUEST,
                       "The Vector Embedding Policy has Dimensions:%lld which is less than the minimum "
                       "supported value 1.",
                       (long long)json_int(dimensions));
    if (json_int(dimensions) > VECTOR_DIMENSIONS_MAX)
        return op_fail(op, ST_BAD_REQUEST,
                       "The Vector Embedding Policy has Dimensions:%lld which is more than the maximum "
                       "supported value %d.",
                       (long long)json_int(dimensions), VECTOR_DIMENSIONS_MAX);
    return ST_OK;
}

static enum status check_embedding(struct op *op, struct json embedding)
{
    static const char *const types[] = { "float32", "float16", "int8", "uint8", NULL };
    static const char *const functions[] = { "cosine", "dotproduct", "euclidean", NULL };
    struct json path = json_get(embedding, "path"), type = json_get(embedding, "dataType");
    struct json function = json_get(embedding, "distanceFunction");

    if (!is_path(path))
        return op_fail(op, ST_BAD_REQUEST, "The Vector Embedding Policy has an invalid Path:%.*s",
                       SLICE_ARGS(shown(op, path)));
    if (!is_missing(type) && !is_one_of(type, types))
        return op_fail(op, ST_BAD_REQUEST, "The Vector Embedding Policy has an invalid DataType:%.*s",
                       SLICE_ARGS(shown(op, type)));
    if (!is_missing(function) && !is_one_of(function, functions))
        return op_fail(op, ST_BAD_REQUEST, "The Vector Embedding Policy has an invalid DistanceFunction:%.*s",
                       SLICE_ARGS(shown(op, function)));
    return check_dimensions(op, json_get(embedding, "dimensions"));
}

enum status embedding_policy_check(struct op *op, struct json policy)
{
    struct json list = json_get(policy, "vectorEmbeddings");
    enum status st = ST_OK;

    if (json_kind(list) != JSON_ARRAY)
        TRY(op_fail(op, ST_BAD_REQUEST, "The vector embedding policy must have 'vectorEmbeddings'."));
    for (struct json_iter i = json_iter(list); json_next(&i);)
        TRY(check_embedding(op, i.value));
    TRY(check_repeated(op, list, "Vector Embedding Policy"));
out:
    return st;
}

static enum status check_range(struct op *op, struct json index, const char *member, const char *name,
                               int64_t min, int64_t max)
{
    struct json value = json_get(index, member);

    if (is_missing(value))
        return ST_OK;
    if (json_kind(value) != JSON_NUMBER || !json_is_int(value))
        return op_fail_as(op, ST_BAD_REQUEST);
    if (json_int(value) >= min && json_int(value) <= max)
        return ST_OK;
    return op_fail(
        op, ST_BAD_REQUEST,
        "The Vector Indexing Policy parameter %s value :: %lld is out of range. The allowed range is "
        "between %lld and %lld.",
        name, (long long)json_int(value), (long long)min, (long long)max);
}

static enum status check_shard_key(struct op *op, struct json paths)
{
    if (is_missing(paths))
        return ST_OK;
    if (json_kind(paths) != JSON_ARRAY)
        return op_fail_as(op, ST_BAD_REQUEST);
    if (json_count(paths) > VECTOR_SHARD_PATHS_MAX)
        return op_fail(op, ST_BAD_REQUEST,
                       "The number of shard paths defined in the Vector Indexing Policy: %zu exceeds the "
                       "maximum: %d.",
                       json_count(paths), VECTOR_SHARD_PATHS_MAX);
    for (struct json_iter i = json_iter(paths); json_next(&i);)
        if (!is_path(i.value))
            return op_fail(op, ST_BAD_REQUEST, "The Vector Indexing Policy has an invalid Shard Path: %.*s.",
                           SLICE_ARGS(shown(op, i.value)));
    return ST_OK;
}

/* A vector is not compressed to more bytes than it has dimensions. */
static int64_t quantized_bytes_max(struct json embedding)
{
    int64_t dimensions = dimensions_of(embedding);

    return dimensions < QUANTIZED_BYTES_MAX ? dimensions : QUANTIZED_BYTES_MAX;
}

/* In whose words the service refuses it is not known. */
static enum status check_flat(struct op *op, struct json type, struct json embedding)
{
    int64_t dimensions = dimensions_of(embedding);

    if (!slice_is_nocase(json_string(type), "flat") || dimensions <= VECTOR_FLAT_DIMENSIONS_MAX)
        return ST_OK;
    return op_fail(
        op, ST_BAD_REQUEST,
        "The Vector Indexing Policy's Index Type::flat supports at most %d dimensions, and the Vector "
        "Embedding Policy has Dimensions:%lld.",
        VECTOR_FLAT_DIMENSIONS_MAX, (long long)dimensions);
}

static enum status check_vector_index(struct op *op, struct json index, struct json embeddings)
{
    static const char *const types[] = { "flat", "quantizedFlat", "diskANN", NULL };
    static const char *const quantizers[] = { "product", "spherical", NULL };
    struct json path = json_get(index, "path"), type = json_get(index, "type");
    struct json quantizer = json_get(index, "quantizerType"), embedding = of_path(embeddings, path);
    enum status st;

    if (!is_one_of(type, types))
        TRY(op_fail(op, ST_BAD_REQUEST, "The Vector Indexing Policy's Index Type::%.*s is invalid.",
                    SLICE_ARGS(shown(op, type))));
    if (json_kind(embedding) == JSON_UNDEFINED)
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "The Vector Indexing Policy's path::%.*s not matching in Embedding's path.",
                    SLICE_ARGS(shown(op, path))));
    if (json_kind(quantizer) != JSON_UNDEFINED && !is_one_of(quantizer, quantizers))
        TRY(op_fail(op, ST_BAD_REQUEST, "The Vector Indexing Policy has an invalid QuantizerType: %.*s.",
                    SLICE_ARGS(shown(op, quantizer))));
    TRY(check_range(op, index, "quantizationByteSize", "QuantizationByteSize", 1,
                    quantized_bytes_max(embedding)));
    TRY(check_range(op, index, "indexingSearchListSize", "IndexingSearchListSize", SEARCH_LIST_MIN,
                    SEARCH_LIST_MAX));
    TRY(check_flat(op, type, embedding));
    TRY(check_shard_key(op, json_get(index, "vectorIndexShardKey")));
    TRY(check_shard_key(op, json_get(index, "vectorIndexShardKeys"))); /* as Java spells it */
out:
    return st;
}

enum status vector_indexes_check(struct op *op, struct json list, struct json body)
{
    struct json embeddings = json_get(json_get(body, "vectorEmbeddingPolicy"), "vectorEmbeddings");
    enum status st = ST_OK;

    for (struct json_iter i = json_iter(list); json_next(&i);)
        TRY(check_vector_index(op, i.value, embeddings));
    TRY(check_repeated(op, list, "Vector Indexing Policy"));
out:
    return st;
}

/* ------- full text ------- */

static enum status check_language(struct op *op, struct json language)
{
    enum text_language named;

    if (json_kind(language) == JSON_UNDEFINED)
        return ST_OK;
    if (json_kind(language) == JSON_STRING && text_language_named(json_string(language), &named))
        return ST_OK;
    return op_fail(
        op, ST_BAD_REQUEST,
        "The Full Text Policy contains an unsupported language %.*s. Supported languages are: en-US, "
        "de-DE, es-ES, fr-FR, it-IT, pt-BR, pt-PT.",
        SLICE_ARGS(shown(op, language)));
}

enum status full_text_policy_check(struct op *op, struct json policy)
{
    enum status st;

    if (json_kind(policy) != JSON_OBJECT)
        TRY(op_fail(op, ST_BAD_REQUEST, "The full text policy must be an object."));
    TRY(check_language(op, json_get(policy, "defaultLanguage")));
    for (struct json_iter i = json_iter(json_get(policy, "fullTextPaths")); json_next(&i);) {
        if (!is_path(json_get(i.value, "path")))
            TRY(op_fail(op, ST_BAD_REQUEST, "The Full Text Policy contains an invalid Path: %.*s",
                        SLICE_ARGS(shown(op, json_get(i.value, "path")))));
        TRY(check_language(op, json_get(i.value, "language")));
    }
out:
    return st;
}

enum status full_text_indexes_check(struct op *op, struct json list, struct json body)
{
    struct json paths = json_get(json_get(body, "fullTextPolicy"), "fullTextPaths");
    size_t at = 0;

    for (struct json_iter i = json_iter(list); json_next(&i); at++) {
        struct json path = json_get(i.value, "path");

        if (json_kind(path) != JSON_STRING)
            return op_fail(op, ST_BAD_REQUEST, "Missing path in full-text index specification at index (%zu)",
                           at);
        if (!is_path(path))
            return op_fail(op, ST_BAD_REQUEST,
                           "Full-text index specification at index (%zu) contains invalid path", at);
        if (json_kind(of_path(paths, path)) == JSON_UNDEFINED)
            return op_fail(op, ST_BAD_REQUEST,
                           "The path of the Full Text Index %.*s does not match the path specified in the "
                           "Full Text Policy",
                           SLICE_ARGS(json_string(path)));
    }
    return ST_OK;
}
