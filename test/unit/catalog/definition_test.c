/* test/unit/catalog/definition_test.c - a container's properties: what is filled in, what is echoed, what is refused. */
#include "catalog/definition.h"
#include "rig.h"

enum { ANY_SIZE = 3000 };

static enum status define(const char *body, bool key_required, struct json *definition)
{
    *definition = json_undefined;
    return container_define(test_op(), rig_json(test_op(), body),
                            (struct define_options){ .is_old = !key_required }, definition);
}

static struct slice printed(struct json value)
{
    struct buf text;

    buf_init(&text, &test_op()->arena);
    json_print(&text, value);
    return buf_as_slice(&text);
}

static void tell(const char *given, struct slice got)
{
    char what[ANY_SIZE];

    snprintf(what, sizeof(what), "%s gave %.*s", given, SLICE_ARGS(got));
    test_failed(__FILE__, __LINE__, what);
}

TEST(what_a_client_leaves_out_is_filled_in_and_everything_is_in_the_order_of_the_echo)
{
    struct json definition;

    CHECK(define("{'partitionKey':{'paths':['/pk'],'kind':'Hash','version':2},'id':'c'}", true,
                 &definition) == ST_OK);
    CHECK(slice_equal(
        printed(definition),
        rig_quoted(test_op(),
                   "{'id':'c','indexingPolicy':{'indexingMode':'consistent','automatic':true,'includedPaths':"
                   "[{'path':"
                   "'/*'}],'excludedPaths':[{'path':'/\\\"_etag\\\"/?'}]},'partitionKey':{'paths':['/"
                   "pk'],'kind':'Hash',"
                   "'version':2},'uniqueKeyPolicy':{'uniqueKeys':[]},'conflictResolutionPolicy':{'mode':"
                   "'LastWriterWins','conflictResolutionPath':'/_ts','conflictResolutionProcedure':''},"
                   "'geospatialConfig':{'type':'Geography'}}")));
}

/* The property as it is echoed; NULL where it is left out. */
static const struct {
    const char *property, *given, *echo;
} echoes[] = {
    { "id", "'id':'ü'", "'ü'" },
    { "partitionKey", "'partitionKey':{'paths':['/a']}", "{'paths':['/a'],'kind':'Hash'}" },
    { "partitionKey", "'partitionKey':{'paths':['/a'],'version':1}",
      "{'paths':['/a'],'kind':'Hash','version':1}" },
    { "partitionKey", "'partitionKey':{'paths':['/a'],'version':2.0,'kind':'hash'}",
      "{'paths':['/a'],'kind':'Hash','version':2}" },
    { "partitionKey", "'partitionKey':{'paths':['/a'],'kind':'Range'}", "{'paths':['/a'],'kind':'Range'}" },
    { "partitionKey", "'partitionKey':{'paths':['/a/b','/\\\"c d\\\"'],'kind':'MultiHash'}",
      "{'paths':['/a/b','/\\\"c d\\\"'],'kind':'MultiHash','version':2}" },
    { "partitionKey", "'partitionKey':{'paths':['/a','/b','/c'],'kind':'MULTIHASH','version':2}",
      "{'paths':['/a','/b','/c'],'kind':'MultiHash','version':2}" },
    { "partitionKey", "'partitionKey':{'paths':['/x'],'systemKey':true}",
      "{'paths':['/x'],'kind':'Hash','systemKey':true}" },
    { "partitionKey", "'partitionKey':{'paths':['/a'],'systemKey':false}", "{'paths':['/a'],'kind':'Hash'}" },
    { "uniqueKeyPolicy", "'uniqueKeyPolicy':{'uniqueKeys':[{'paths':['/a','/b/c']}]}",
      "{'uniqueKeys':[{'paths':['/a','/b/c']}]}" },
    { "uniqueKeyPolicy", "'uniqueKeyPolicy':null", "{'uniqueKeys':[]}" },
    { "uniqueKeyPolicy", "'uniqueKeyPolicy':{}", "{}" },
    { "conflictResolutionPolicy",
      "'conflictResolutionPolicy':{'mode':'custom','conflictResolutionProcedure':'p'}",
      "{'mode':'custom','conflictResolutionProcedure':'p'}" },
    { "conflictResolutionPolicy", "'conflictResolutionPolicy':{}", "{}" },
    { "geospatialConfig", "'geospatialConfig':{'type':'Geometry'}", "{'type':'Geometry'}" },
    { "defaultTtl", "'defaultTtl':-1", "-1" },
    { "defaultTtl", "'defaultTtl':2147483647", "2147483647" },
    { "defaultTtl", "'defaultTtl':1.0", "1" },
    { "defaultTtl", "'x':1", NULL },
    { "analyticalStorageTtl", "'analyticalStorageTtl':-1", "-1" },
    { "analyticalStorageTtl", "'analyticalStorageTtl':0", "0" },
    { "vectorEmbeddingPolicy",
      "'vectorEmbeddingPolicy':{'vectorEmbeddings':[{'path':'/v','dataType':'float32','dimensions':3,"
      "'distanceFunction':'cosine'}]}",
      "{'vectorEmbeddings':[{'path':'/"
      "v','dataType':'float32','dimensions':3,'distanceFunction':'cosine'}]}" },
    { "fullTextPolicy", "'fullTextPolicy':{'defaultLanguage':'en-US','fullTextPaths':[{'path':'/t'}]}",
      "{'defaultLanguage':'en-US','fullTextPaths':[{'path':'/t'}]}" },
    { "computedProperties", "'computedProperties':[{'name':'n','query':'SELECT VALUE 1'}]",
      "[{'name':'n','query':'SELECT VALUE 1'}]" },
    { "changeFeedPolicy", "'changeFeedPolicy':{'retentionDuration':10}", "{'retentionDuration':10}" },
    { "clientEncryptionPolicy", "'clientEncryptionPolicy':{'includedPaths':[]}", "{'includedPaths':[]}" },
    { "_rid", "'_rid':'abc','unknown':1", NULL },
    { "unknown", "'_rid':'abc','unknown':1", NULL },
};

/* The property at hand, and the two that no definition can do without. */
static const char *body_with(const char *given)
{
    static char body[ANY_SIZE];

    snprintf(body, sizeof(body), "{%s%s%s}", strncmp(given, "'id'", 4) == 0 ? "" : "'id':'c',",
             strstr(given, "partitionKey") ? "" : "'partitionKey':{'paths':['/pk']},", given);
    return body;
}

TEST(each_property_is_echoed_in_the_services_form)
{
    for (size_t i = 0; i < sizeof(echoes) / sizeof(echoes[0]); i++) {
        struct slice expected = rig_quoted(test_op(), echoes[i].echo ? echoes[i].echo : ""), got;
        struct json definition;
        enum status st = define(body_with(echoes[i].given), true, &definition);

        got = st == ST_OK ? printed(json_get(definition, echoes[i].property)) : slice_of(test_op()->error);
        if (!slice_equal(got, expected))
            tell(echoes[i].given, got);
    }
}

#define MISSING_ID "The input content is invalid because the required properties - 'id; ' - are missing"
#define TTL(text)                                                                       \
    "The input ttl '" text                                                              \
    "' is invalid. Ensure to provide a nonzero positive integer less than or equal to " \
    "'2147483647', or '-1' which means never expire."
#define KEY_PATH(path)                                           \
    "The partition key component definition path '" path         \
    "' could not be accepted. Partition key paths must contain " \
    "only valid characters and not contain a trailing slash or wildcard character."
#define EMBEDDING "The Vector Embedding Policy has "
#define EMBED(path, type, dimensions, function)                                      \
    "'vectorEmbeddingPolicy':{'vectorEmbeddings':[{'path':" path ",'dataType':" type \
    ",'dimensions':" dimensions ",'distanceFunction':" function "}]}"
#define LANGUAGE(name)                                            \
    "The Full Text Policy contains an unsupported language " name \
    ". Supported languages are: en-US, de-DE, "                   \
    "es-ES, fr-FR, it-IT, pt-BR, pt-PT."
#define CONFLICT_MODE \
    "Invalid mode for setting 'conflictResolutionPolicy'. Mode expected is 'LastWriterWins' or 'Custom'."
#define ID_RULE(id)       \
    "The input name '" id \
    "' is invalid. Ensure to provide a unique non-empty string less than '255' characters."
#define INVALID_INPUT "One of the specified inputs is invalid"

static const struct {
    const char *given, *error;
} refusals[] = {
    { "'id':null", MISSING_ID },
    { "'id':1", INVALID_INPUT },
    { "'id':''", ID_RULE("") },
    { "'id':'a/b'", "The resource name presented contains invalid character '/'." },
    { "'id':'a\\\\b'", "The resource name presented contains invalid character '\\'." },
    { "'id':'a?'", "The resource name presented contains invalid character '?'." },
    { "'id':'#'", "The resource name presented contains invalid character '#'." },
    { "'id':'a '", "The resource name can't end with space." },
    { "'partitionKey':null", "A Partition key definition is not specified in the request." },
    { "'partitionKey':'x'", "Partition key paths cannot be empty." },
    { "'partitionKey':{}", "Partition key paths cannot be empty." },
    { "'partitionKey':{'paths':[]}", "Partition key paths cannot be empty." },
    { "'partitionKey':{'paths':'/a'}", "Partition key paths cannot be empty." },
    { "'partitionKey':{'paths':['/a','/b']}",
      "Too many partition key paths (2) specified. A maximum of 1 is allowed." },
    { "'partitionKey':{'paths':['/a','/b','/c','/d'],'kind':'MultiHash'}",
      "Too many partition key paths (4) specified. A maximum of 3 is allowed." },
    { "'partitionKey':{'paths':['a']}", KEY_PATH("a") },
    { "'partitionKey':{'paths':['/a/']}", KEY_PATH("/a/") },
    { "'partitionKey':{'paths':['/a/*']}", KEY_PATH("/a/*") },
    { "'partitionKey':{'paths':['/[]/b']}", KEY_PATH("/[]/b") },
    { "'partitionKey':{'paths':['']}", KEY_PATH("") },
    { "'partitionKey':{'paths':[7]}", KEY_PATH("") },
    { "'partitionKey':{'paths':['/a'],'kind':'Other'}",
      "The partition key kind must be one of Hash, MultiHash and Range." },
    { "'partitionKey':{'paths':['/a'],'kind':1}",
      "The partition key kind must be one of Hash, MultiHash and Range." },
    { "'partitionKey':{'paths':['/a'],'version':3}", "The partition key version must be 1 or 2." },
    { "'partitionKey':{'paths':['/a'],'version':'2'}", "The partition key version must be 1 or 2." },
    { "'partitionKey':{'paths':['/a'],'version':1.5}", "The partition key version must be 1 or 2." },
    { "'partitionKey':{'paths':['/a','/b'],'kind':'MultiHash','version':1}",
      "Subpartitioning is only supported for Hash V2. " },
    { "'uniqueKeyPolicy':1", "The input content is invalid. 'uniqueKeyPolicy' must have 'uniqueKeys'." },
    { "'uniqueKeyPolicy':{'uniqueKeys':1}",
      "The input content is invalid. 'uniqueKeyPolicy' must have 'uniqueKeys'." },
    { "'uniqueKeyPolicy':{'uniqueKeys':[1,2,3,4,5,6,7,8,9,10,11]}",
      "Too many unique keys (11) specified. A maximum of 10 is allowed." },
    { "'uniqueKeyPolicy':{'uniqueKeys':[{}]}", "Unique key paths cannot be empty." },
    { "'uniqueKeyPolicy':{'uniqueKeys':[{'paths':[]}]}", "Unique key paths cannot be empty." },
    { "'uniqueKeyPolicy':{'uniqueKeys':[{'paths':[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}]}",
      "Too many unique key paths (17) specified. A maximum of 16 is allowed." },
    { "'uniqueKeyPolicy':{'uniqueKeys':[{'paths':['a']}]}", "A unique key path is malformed." },
    { "'uniqueKeyPolicy':{'uniqueKeys':[{'paths':[1]}]}", "A unique key path is malformed." },
    { "'conflictResolutionPolicy':[]", CONFLICT_MODE },
    { "'conflictResolutionPolicy':{'mode':'First'}", CONFLICT_MODE },
    { "'conflictResolutionPolicy':{'mode':1}", CONFLICT_MODE },
    { "'geospatialConfig':'Geometry'", "The geospatial type must be one of Geography and Geometry." },
    { "'geospatialConfig':{}", "The geospatial type must be one of Geography and Geometry." },
    { "'geospatialConfig':{'type':'Flat'}", "The geospatial type must be one of Geography and Geometry." },
    { "'defaultTtl':0", TTL("0") },
    { "'defaultTtl':null", TTL("null") },
    { "'defaultTtl':-2", TTL("-2") },
    { "'defaultTtl':2147483648", TTL("2147483648") },
    { "'defaultTtl':1.5", TTL("1.5") },
    { "'defaultTtl':'60'", TTL("\"60\"") },
    { "'analyticalStorageTtl':-2", "The input analyticalStorageTtl is invalid." },
    { "'analyticalStorageTtl':true", "The input analyticalStorageTtl is invalid." },
    { "'analyticalStorageTtl':2147483648", "The input analyticalStorageTtl is invalid." },
    { "'vectorEmbeddingPolicy':1", "The vector embedding policy must have 'vectorEmbeddings'." },
    { "'vectorEmbeddingPolicy':{}", "The vector embedding policy must have 'vectorEmbeddings'." },
    { EMBED("1", "'float32'", "3", "'cosine'"), EMBEDDING "an invalid Path:1" },
    { EMBED("'v'", "'float32'", "3", "'cosine'"), EMBEDDING "an invalid Path:v" },
    { EMBED("'/v'", "'float64'", "3", "'cosine'"), EMBEDDING "an invalid DataType:float64" },
    { EMBED("'/v'", "'int8'", "0", "'cosine'"),
      EMBEDDING "Dimensions:0 which is less than the minimum supported value 1." },
    { EMBED("'/v'", "'int8'", "4097", "'cosine'"),
      EMBEDDING "Dimensions:4097 which is more than the maximum supported value 4096." },
    { EMBED("'/v'", "'uint8'", "1.5", "'cosine'"), INVALID_INPUT },
    { EMBED("'/v'", "'float16'", "'3'", "'cosine'"), INVALID_INPUT },
    { EMBED("'/v'", "'float32'", "3", "'manhattan'"), EMBEDDING "an invalid DistanceFunction:manhattan" },
    { "'fullTextPolicy':[]", "The full text policy must be an object." },
    { "'fullTextPolicy':{'fullTextPaths':[{}]}", "The Full Text Policy contains an invalid Path: " },
    { "'fullTextPolicy':{'fullTextPaths':[{'path':'t'}]}",
      "The Full Text Policy contains an invalid Path: t" },
    { "'fullTextPolicy':{'defaultLanguage':'xx'}", LANGUAGE("xx") },
    { "'fullTextPolicy':{'fullTextPaths':[{'path':'/t','language':1}]}", LANGUAGE("1") },
    { "'computedProperties':{}", "One of the specified inputs is invalid" },
    { "'computedProperties':[{'query':'q'}]", "One of the specified inputs is invalid" },
    { "'computedProperties':[{'name':'','query':'q'}]",
      "Computed property 'name' is either empty or unspecified." },
    { "'computedProperties':[{'name':'n'}]", "One of the specified inputs is invalid" },
    { "'computedProperties':[{'name':'_ts','query':'q'}]",
      "The system property name '_ts' cannot be used as a computed property name." },
    { "'changeFeedPolicy':1", INVALID_INPUT },
    { "'clientEncryptionPolicy':[]", INVALID_INPUT },
    { "'indexingPolicy':1", "The input content is invalid. 'indexingPolicy' must be an object." },
    { "'defaultTtl':1,'indexingPolicy':{'indexingMode':'none'}",
      "The time to live needs an index: 'defaultTtl' must not be set when 'indexingMode' is 'none'." },
};

TEST(each_property_out_of_bounds_is_refused_with_its_reason)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct json definition;
        enum status st = define(body_with(refusals[i].given), true, &definition);

        if (st != ST_BAD_REQUEST || strcmp(test_op()->error, refusals[i].error) != 0)
            tell(refusals[i].given, st == ST_OK ? printed(definition) : slice_of(test_op()->error));
    }
}

TEST(a_body_that_is_no_object_is_refused)
{
    struct json definition;

    CHECK(define("[]", true, &definition) == ST_BAD_REQUEST);
    CHECK(define("'text'", true, &definition) == ST_BAD_REQUEST);
}

TEST(a_client_that_may_leave_the_key_out_gets_the_systems)
{
    struct json definition;

    CHECK(define("{'id':'c'}", false, &definition) == ST_OK);
    CHECK(slice_equal(printed(json_get(definition, "partitionKey")),
                      rig_quoted(test_op(), "{'paths':['/_partitionKey'],'kind':'Hash','systemKey':true}")));
    CHECK(define("{'id':'c'}", true, &definition) == ST_BAD_REQUEST);
}

static enum status check_id_of(const char *unit, size_t count, const char *rest)
{
    struct json_builder builder;
    struct buf id;

    buf_init(&id, &test_op()->arena);
    for (size_t i = 0; i < count; i++)
        buf_text(&id, unit);
    buf_text(&id, rest);
    json_builder_init(&builder, &test_op()->arena);
    json_add_string(&builder, buf_as_slice(&id));
    return resource_id_check(test_op(), json_built(&builder));
}

TEST(an_id_has_at_most_255_characters_as_utf_16_counts_them)
{
    CHECK(check_id_of("a", 255, "") == ST_OK && check_id_of("a", 256, "") == ST_BAD_REQUEST);
    CHECK(check_id_of("ü", 255, "") == ST_OK && check_id_of("ü", 256, "") == ST_BAD_REQUEST);
    CHECK(check_id_of("漢", 255, "") == ST_OK && check_id_of("漢", 256, "") == ST_BAD_REQUEST);
    CHECK(check_id_of("😀", 127, "a") == ST_OK && check_id_of("😀", 128, "") == ST_BAD_REQUEST);
}

/* --- replacing --- */

static enum status check_replace(const char *old, const char *new)
{
    struct json from, to;

    CHECK(define(body_with(old), true, &from) == ST_OK);
    CHECK(container_define(test_op(), rig_json(test_op(), body_with(new)),
                           (struct define_options){ .old = from }, &to) == ST_OK);
    return container_check_replace(test_op(), from, to);
}

TEST(a_containers_id_key_and_unique_keys_stay_what_they_are)
{
    CHECK(check_replace("'x':1", "'defaultTtl':5") == ST_OK);
    CHECK(check_replace("'x':1", "'indexingPolicy':{'indexingMode':'none','automatic':false}") == ST_OK);
    CHECK(check_replace("'id':'c'", "'id':'d'") == ST_BAD_REQUEST);
    CHECK(check_replace("'partitionKey':{'paths':['/a']}", "'partitionKey':{'paths':['/b']}") ==
          ST_BAD_REQUEST);
    CHECK(check_replace("'partitionKey':{'paths':['/a']}", "'partitionKey':{'paths':['/a'],'version':2}") ==
          ST_BAD_REQUEST);
    CHECK(check_replace("'x':1", "'uniqueKeyPolicy':{'uniqueKeys':[{'paths':['/a']}]}") == ST_FORBIDDEN);
    CHECK(check_replace("'x':1", "'uniqueKeyPolicy':{'uniqueKeys':[]}") == ST_OK);
}

#define CONFLICTS "'conflictResolutionPolicy':"
#define ENCRYPTION "'clientEncryptionPolicy':"

TEST(the_policies_that_items_were_written_by_stay)
{
    CHECK(check_replace("'x':1", CONFLICTS "{'mode':'Custom'}") == ST_BAD_REQUEST);
    CHECK(check_replace(CONFLICTS "{'mode':'Custom'}", "'x':1") == ST_OK);
    CHECK(check_replace(CONFLICTS "{'mode':'LastWriterWins'}",
                        CONFLICTS "{'mode':'lastWriterWins','conflictResolutionPath':'/_ts',"
                                  "'conflictResolutionProcedure':''}") == ST_OK);
    CHECK(check_replace("'x':1", CONFLICTS "{'mode':'LastWriterWins','conflictResolutionPath':'/v'}") ==
          ST_BAD_REQUEST);
    CHECK(check_replace("'x':1", ENCRYPTION "{'includedPaths':[]}") == ST_BAD_REQUEST);
    CHECK(check_replace(ENCRYPTION "{'includedPaths':[]}", "'x':1") == ST_BAD_REQUEST);
    CHECK(check_replace(ENCRYPTION "{'includedPaths':[]}", ENCRYPTION "{'includedPaths':[1]}") ==
          ST_BAD_REQUEST);
}

#define VECTOR(path, size) \
    "{'path':'" path "','dataType':'float32','dimensions':" #size ",'distanceFunction':'cosine'}"
#define VECTORS(list) "'vectorEmbeddingPolicy':{'vectorEmbeddings':[" list "]}"
#define INDEXES(list) "'indexingPolicy':{'vectorIndexes':[" list "]}"

TEST(vectors_may_be_added_and_removed_and_stay_as_they_are)
{
    CHECK(check_replace("'x':1", VECTORS(VECTOR("/v", 3))) == ST_OK);
    CHECK(check_replace(VECTORS(VECTOR("/v", 3)), VECTORS(VECTOR("/w", 4) "," VECTOR("/v", 3))) == ST_OK);
    CHECK(check_replace(VECTORS(VECTOR("/v", 3)), VECTORS(VECTOR("/v", 4))) == ST_BAD_REQUEST);
    CHECK(check_replace(VECTORS(VECTOR("/v", 3)), VECTORS("")) == ST_OK);
    CHECK(check_replace(VECTORS(VECTOR("/v", 3)), "'x':1") == ST_OK);
}

#define INDEX_OF_V(type) VECTORS(VECTOR("/v", 3)) "," INDEXES("{'path':'/v','type':'" type "'}")

TEST(a_vector_index_may_go_but_not_become_another)
{
    CHECK(check_replace(INDEX_OF_V("flat"), INDEX_OF_V("quantizedFlat")) == ST_BAD_REQUEST);
    CHECK(check_replace(INDEX_OF_V("flat"), INDEX_OF_V("flat")) == ST_OK);
    CHECK(check_replace(INDEX_OF_V("flat"), INDEXES("")) == ST_OK);
}

#define OUT_OF_RANGE(name, value, range)                            \
    "The Vector Indexing Policy parameter " name " value :: " value \
    " is out of range. The allowed range is between " range "."

/* Of a container with an embedding of 256 dimensions at /v and one of 1,024 at /w, and full text at /t. */
static const struct {
    const char *indexes, *error; /* NULL: it is accepted */
} search_indexes[] = {
    { "'vectorIndexes':[{'path':'/v','type':'flat'}]", NULL },
    { "'vectorIndexes':[{'path':'/"
      "v','type':'quantizedFlat','quantizerType':'product','quantizationByteSize':256}]",
      NULL },
    { "'vectorIndexes':[{'path':'/w','type':'diskANN','quantizationByteSize':512,'indexingSearchListSize':25,"
      "'vectorIndexShardKey':['/a/b']}]",
      NULL },
    { "'vectorIndexes':[{'path':'/x','type':'flat'}]",
      "The Vector Indexing Policy's path::/x not matching in Embedding's path." },
    { "'vectorIndexes':[{'type':'flat'}]",
      "The Vector Indexing Policy's path:: not matching in Embedding's path." },
    { "'vectorIndexes':[{'path':'/v','type':'tree'}]",
      "The Vector Indexing Policy's Index Type::tree is invalid." },
    { "'vectorIndexes':[1]", "The Vector Indexing Policy's Index Type:: is invalid." },
    { "'vectorIndexes':[{'path':'/v','type':'diskANN','quantizerType':'x'}]",
      "The Vector Indexing Policy has an invalid QuantizerType: x." },
    { "'vectorIndexes':[{'path':'/v','type':'quantizedFlat','quantizationByteSize':0}]",
      OUT_OF_RANGE("QuantizationByteSize", "0", "1 and 256") },
    { "'vectorIndexes':[{'path':'/w','type':'quantizedFlat','quantizationByteSize':513}]",
      OUT_OF_RANGE("QuantizationByteSize", "513", "1 and 512") },
    { "'vectorIndexes':[{'path':'/v','type':'diskANN','indexingSearchListSize':5}]",
      OUT_OF_RANGE("IndexingSearchListSize", "5", "25 and 500") },
    { "'vectorIndexes':[{'path':'/v','type':'diskANN','indexingSearchListSize':'5'}]", INVALID_INPUT },
    { "'vectorIndexes':[{'path':'/v','type':'diskANN','vectorIndexShardKey':['a']}]",
      "The Vector Indexing Policy has an invalid Shard Path: a." },
    { "'vectorIndexes':[{'path':'/v','type':'diskANN','vectorIndexShardKey':['/a','/b','/c']}]",
      "The number of shard paths defined in the Vector Indexing Policy: 3 exceeds the maximum: 1." },
    { "'vectorIndexes':[{'path':'/v','type':'diskANN','vectorIndexShardKey':'/a'}]", INVALID_INPUT },
    { "'fullTextIndexes':[{'path':'/t'}]", NULL },
    { "'fullTextIndexes':[{'path':'/t'},{'no':1}]",
      "Missing path in full-text index specification at index (1)" },
    { "'fullTextIndexes':[{'path':'t'}]",
      "Full-text index specification at index (0) contains invalid path" },
    { "'fullTextIndexes':[{'path':'/u'}]",
      "The path of the Full Text Index /u does not match the path specified in the Full Text Policy" },
};

TEST(an_index_for_searching_rests_on_the_policy_for_its_path)
{
    for (size_t i = 0; i < sizeof(search_indexes) / sizeof(search_indexes[0]); i++) {
        const char *wanted = search_indexes[i].error;
        struct json definition;
        char body[ANY_SIZE];
        enum status st;

        snprintf(
            body, sizeof(body),
            "{'id':'c','partitionKey':{'paths':['/pk']}," VECTORS(VECTOR("/v", 256) "," VECTOR(
                "/w", 1024)) ",'fullTextPolicy':{'fullTextPaths':[{'path':'/t'}]},'indexingPolicy':{%s}}",
            search_indexes[i].indexes);
        st = define(body, true, &definition);
        if (wanted ? st != ST_BAD_REQUEST || strcmp(test_op()->error, wanted) != 0 : st != ST_OK)
            tell(search_indexes[i].indexes, st == ST_OK ? printed(definition) : slice_of(test_op()->error));
    }
}

TEST(a_replace_that_names_a_vector_index_names_its_embedding_too)
{
    struct json from, to;

    CHECK(define(body_with(INDEX_OF_V("flat")), true, &from) == ST_OK);
    CHECK(container_define(test_op(), rig_json(test_op(), body_with(INDEXES("{'path':'/v','type':'flat'}"))),
                           (struct define_options){ .old = from }, &to) == ST_BAD_REQUEST);
}

/* --- the key, taken apart --- */

static struct container read_key(const char *key)
{
    struct container container = { 0 };
    char body[ANY_SIZE];

    snprintf(body, sizeof(body), "{'id':'c','partitionKey':%s}", key);
    CHECK(define(body, true, &container.definition) == ST_OK);
    container_read_key(&container);
    return container;
}

TEST(the_key_tells_its_hash_version_and_its_paths)
{
    struct container container = read_key("{'paths':['/a/\\\"b/c\\\"']}");

    CHECK(container.epk_version == EPK_V1 && container.key_path_count == 1 && !container.system_key);
    CHECK(container.key_path[0].count == 2 && slice_is(container.key_path[0].segment[1], "b/c"));
    CHECK(read_key("{'paths':['/a'],'version':1}").epk_version == EPK_V1);
    CHECK(read_key("{'paths':['/a'],'version':2}").epk_version == EPK_V2);
    container = read_key("{'paths':['/a','/b','/c'],'kind':'MultiHash'}");
    CHECK(container.epk_version == EPK_MULTI && container.key_path_count == 3);
    CHECK(slice_is(container.key_path[2].segment[0], "c"));
    container = read_key("{'systemKey':true}");
    CHECK(container.system_key && container.epk_version == EPK_V1);
}
