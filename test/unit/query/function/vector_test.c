/* test/unit/query/function/vector_test.c - VECTORDISTANCE, called directly, and what the binder asks about it. */
#include <math.h>

#include "call.h"
#include "query/function/vector.h"
#include "test.h"

static bool vector(const char *args, const char *expected)
{
    return gives(&builtins_vector, "VECTORDISTANCE", args, expected);
}

TEST(the_function_is_cosine_unless_something_says_otherwise)
{
    CHECK(vector("[[1,2,3],[2,3,4]]", "0.9925833339709302"));
    CHECK(vector("[[1,2,3],[2,3,4],false]", "0.9925833339709302"));
    CHECK(vector("[[1,2,3],[2,3,4],true,{}]", "0.9925833339709302"));
    CHECK(vector("[[1,0,0],[1,0,0]]", "1"));
    CHECK(vector("[[1,0,0],[0,1,0]]", "0"));
    CHECK(vector("[[1,0,0],[-1,0,0]]", "-1"));
    CHECK(vector("[[3,4],[6,8]]", "1"));
}

TEST(the_options_name_the_function_in_any_case)
{
    CHECK(vector("[[1,2,3],[2,3,4],true,{'distanceFunction':'dotproduct','dataType':'uint8'}]", "20"));
    CHECK(vector("[[1,2,3],[2,3,4],true,{'distanceFunction':'DotProduct'}]", "20"));
    CHECK(vector("[[0,0],[3,4],false,{'distanceFunction':'Euclidean'}]", "5"));
    CHECK(vector("[[1,2,3],[2,3,4],true,{'distanceFunction':'cosine','searchListSizeMultiplier':10}]",
                 "0.9925833339709302"));
}

TEST(what_is_no_pair_of_vectors_of_one_size_has_no_distance)
{
    static const char *const wrong[] = {
        "[[1,2],[1,2,3]]",        "[[],[]]",
        "[[1,'2'],[1,2]]",        "[[1,null],[1,2]]",
        "[[[1],[2]],[1,2]]",      "['1,2',[1,2]]",
        "[null,[1,2]]",           "[[1,2],{'0':1,'1':2}]",
        "['<undefined>',[1,2]]",  "[[1,2],[1,2],1]",
        "[[1,2],[1,2],true,'x']", "[[1,2],[1,2],true,{'distanceFunction':1}]",
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CHECK(vector(wrong[i], "undefined"));
}

TEST(a_vector_of_zeros_is_like_none_and_has_a_distance)
{
    CHECK(vector("[[0,0],[1,1]]", "0"));
    CHECK(vector("[[0,0],[1,1],false,{'distanceFunction':'dotproduct'}]", "0"));
    CHECK(vector("[[0,0],[6,8],false,{'distanceFunction':'euclidean'}]", "10"));
}

/* The first and the ninth number meet in one sum. Added to before it is rounded, the product would leave a rest. */
TEST(products_that_cancel_leave_nothing_on_any_processor)
{
    CHECK(vector("[[0.1,0,0,0,0,0,0,0,0.3],[0.3,0,0,0,0,0,0,0,-0.1]]", "0"));
    CHECK(vector("[[0.7,0,0,0,0,0,0,0,1.1],[1.1,0,0,0,0,0,0,0,-0.7],false,{'distanceFunction':'dotproduct'}]",
                 "0"));
}

/* ------- rows of a query ------- */

/* Few bits, so that a float32, which vectors are of where nobody says otherwise, holds it and some times it. */
static double number_at(size_t place)
{
    return round(1024 * sin((double)place)) / 1024;
}

static struct value array_of(size_t count, double scale)
{
    struct json_builder out;

    json_builder_init(&out, &test_op()->arena);
    json_begin_array(&out);
    for (size_t i = 0; i < count; i++)
        json_add_double(&out, scale * number_at(i));
    json_end(&out);
    return value_from_json(json_built(&out));
}

static double distance(struct eval *eval, struct value a, struct value b)
{
    struct value arg[] = { a, b };
    struct value got = builtins_vector.row[0].code(eval, arg, 2);

    return got.kind == JSON_NUMBER ? got.number : NAN;
}

TEST(vectors_of_every_length_are_summed_to_their_end)
{
    for (size_t count = 1; count < 40; count++) {
        struct vector_policy policy = { .function = VECTOR_DOT_PRODUCT };
        struct eval eval = test_eval();
        double sum = 0;

        *eval.memo = &policy;
        for (size_t i = 0; i < count; i++)
            sum += 6 * number_at(i) * number_at(i);
        CHECK(fabs(distance(&eval, array_of(count, 2), array_of(count, 3)) - sum) < 1e-12 * (1 + sum));
    }
}

TEST(a_policy_sets_the_function_and_the_dimensions)
{
    struct vector_policy policy = { .function = VECTOR_EUCLIDEAN, .dimensions = 3 };
    struct eval eval = test_eval();

    *eval.memo = &policy;
    CHECK(distance(&eval, array_of(3, 1), array_of(3, 1)) == 0);
    CHECK(isnan(distance(&eval, array_of(2, 1), array_of(2, 1))));
    CHECK(!policy.prepared);
}

TEST(arguments_may_change_from_row_to_row)
{
    struct vector_policy policy = { .function = VECTOR_DOT_PRODUCT };
    struct eval eval = test_eval();
    struct value fixed = array_of(9, 1);
    double one;

    *eval.memo = &policy;
    one = distance(&eval, array_of(9, 1), fixed);
    for (int row = 2; row < 6; row++)
        CHECK(fabs(distance(&eval, array_of(9, row), fixed) - row * one) < 1e-12);
    CHECK(fabs(distance(&eval, fixed, array_of(9, 7)) - 7 * one) < 1e-12);
}

/* ------- what the binder asks ------- */

static struct expr literal(struct value value)
{
    return (struct expr){ .kind = EXPR_LITERAL, .value = value };
}

/* VectorDistance(c.embedding, ..., true, {name: value}), whose options stand at 71 to 107. */
struct sample {
    struct expr root, path, value, exact, options, call;
    struct expr *option[1], *kid[4], *below[1];
    struct slice names[1];
};

static const struct expr *sample_call(struct sample *s, const char *name, struct value value)
{
    s->root = (struct expr){ .kind = EXPR_NAME, .name = slice_of("c") };
    s->below[0] = &s->root;
    s->path =
        (struct expr){ .kind = EXPR_MEMBER, .name = slice_of("embedding"), .kid = s->below, .kid_count = 1 };
    s->value = literal(value);
    s->option[0] = &s->value;
    s->names[0] = slice_of(name);
    s->options = (struct expr){
        .kind = EXPR_OBJECT,
        .kid = s->option,
        .kid_count = 1,
        .names = s->names,
        .span = { 71, 107 },
    };
    s->exact = (struct expr){ .kind = EXPR_LITERAL, .value = value_bool(true) };
    s->kid[0] = s->kid[1] = &s->path;
    s->kid[2] = &s->exact;
    s->kid[3] = &s->options;
    s->call = (struct expr){ .kind = EXPR_CALL, .kid = s->kid, .kid_count = 4 };
    return &s->call;
}

static bool refused(const char *name, struct value value, const char *code, const char *message)
{
    struct sample s;

    test_op()->error = NULL;
    if (vector_check_call(test_op(), sample_call(&s, name, value), NULL) != ST_BAD_QUERY)
        return false;
    return strstr(test_op()->error, code) && strstr(test_op()->error, message) &&
           strstr(test_op()->error, "\"start\":71,\"end\":107");
}

static bool accepted(const char *name, struct value value)
{
    struct sample s;

    return vector_check_call(test_op(), sample_call(&s, name, value), NULL) == ST_OK;
}

static struct value text(const char *text)
{
    return value_string(slice_of(text));
}

TEST(options_are_refused_in_the_service_s_words)
{
    CHECK(refused(
        "notAValidFieldName", text("dotproduct"), "SC2210",
        "'notAValidFieldName' is not a valid option name for VectorDistance function options argument."));
    CHECK(refused(
        "distanceFunction", text("notValidValueForFunctionField"), "SC2210",
        "VectorDistance function options argument property value 'notValidValueForFunctionField' is not a "
        "valid value for option 'distanceFunction'."));
    CHECK(refused("dataType", text("float64"), "SC2210",
                  "'float64' is not a valid value for option 'dataType'."));
    CHECK(refused("searchListSizeMultiplier", text("10"), "SC2210",
                  "of option 'searchListSizeMultiplier' must be a number literal."));
    CHECK(refused("dataType", value_int(3), "SC2210", "of option 'dataType' must be a string literal."));
}

TEST(numbers_among_the_options_have_ranges)
{
    CHECK(refused(
        "searchListSizeMultiplier", value_int(0), "SC2213",
        "The 'searchListSizeMultiplier' value 0 specified in the VectorDistance function is outside the "
        "supported range. The value must be between 1 and 100."));
    CHECK(refused("searchListSizeMultiplier", value_int(101), "SC2213", "between 1 and 100"));
    CHECK(refused("searchListSizeMultiplier", value_double(1.5), "SC2213",
                  "The 'searchListSizeMultiplier' value specified in the VectorDistance function must be an "
                  "integer between 1 and 100."));
    CHECK(refused("quantizedVectorListMultiplier", value_int(-1), "SC2214", "between 1 and 50"));
    CHECK(refused("quantizedVectorListMultiplier", value_int(51), "SC2214", "between 1 and 50"));
    CHECK(refused(
        "filterPriority", value_double(1.5), "SC2215",
        "The 'filterPriority' value specified in the VectorDistance function must be a value between 0 "
        "and 1."));
    CHECK(accepted("searchListSizeMultiplier", value_int(1)));
    CHECK(accepted("searchListSizeMultiplier", value_int(100)));
    CHECK(accepted("quantizedVectorListMultiplier", value_int(5)));
    CHECK(accepted("filterPriority", value_double(0.75)));
    CHECK(accepted("dataType", text("Float32")));
}

TEST(the_nearest_is_the_greatest_of_a_similarity_and_the_least_of_a_distance)
{
    struct vector_policy euclidean = { .function = VECTOR_EUCLIDEAN };
    struct sample s;

    CHECK(vector_nearest_is_greatest(sample_call(&s, "dataType", text("int8")), NULL));
    CHECK(!vector_nearest_is_greatest(sample_call(&s, "dataType", text("int8")), &euclidean));
    CHECK(vector_nearest_is_greatest(sample_call(&s, "distanceFunction", text("DotProduct")), &euclidean));
    CHECK(!vector_nearest_is_greatest(sample_call(&s, "distanceFunction", text("euclidean")), NULL));
}

static struct json policies(const char *text)
{
    struct json json = json_undefined;

    CHECK(json_parse(test_op(), slice_of(text), &json) == ST_OK);
    return json;
}

TEST(a_policy_is_found_by_the_path_of_an_argument)
{
    struct json vectors =
        policies("{\"vectorEmbeddings\":["
                 "{\"path\":\"/other\",\"distanceFunction\":\"cosine\",\"dimensions\":9},"
                 "{\"path\":\"/\\\"embedding\\\"\",\"dataType\":\"Int8\",\"distanceFunction\":"
                 "\"Euclidean\",\"dimensions\":3}]}");
    struct sample s;
    const struct vector_policy *policy =
        vector_policy_of(test_op(), sample_call(&s, "x", value_null), vectors);

    REQUIRE(policy);
    CHECK(policy->function == VECTOR_EUCLIDEAN);
    CHECK(policy->type == VECTOR_INT8);
    CHECK(policy->dimensions == 3);
    s.path.name = slice_of("embeddings");
    CHECK(!vector_policy_of(test_op(), &s.call, vectors));
    CHECK(!vector_policy_of(test_op(), &s.call, json_undefined));
}
