/* test/unit/query/function/array_test.c - functions of arrays and sets, called directly. */
#include "call.h"
#include "test.h"

static bool array(const char *name, const char *args, const char *expected)
{
    return gives(&builtins_array, name, args, expected);
}

TEST(anything_but_arrays_gives_undefined)
{
    static const char *const names[] = { "ARRAY_AVG",    "ARRAY_LENGTH", "ARRAY_MAX",
                                         "ARRAY_MEDIAN", "ARRAY_MIN",    "ARRAY_SUM" };
    static const char *const pairs[] = { "ARRAY_CONCAT", "SETDIFFERENCE", "SETEQUAL", "SETINTERSECT",
                                         "SETUNION" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        CHECK(array(names[i], "[null]", "undefined"));
        CHECK(array(names[i], "['abc']", "undefined"));
        CHECK(array(names[i], "['<undefined>']", "undefined"));
    }
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        CHECK(array(pairs[i], "[[1], {'a':1}]", "undefined"));
        CHECK(array(pairs[i], "[1, [1]]", "undefined"));
        CHECK(array(pairs[i], "[[1], '<undefined>']", "undefined"));
    }
}

TEST(arrays_join_in_order)
{
    CHECK(array("ARRAY_CONCAT", "[[1,'a'],[],[null,[2]]]", "[1,'a',null,[2]]"));
}

TEST(an_element_is_found_by_deep_equality)
{
    CHECK(array("ARRAY_CONTAINS", "[['a','b'],'b']", "true"));
    CHECK(array("ARRAY_CONTAINS", "[['a','b'],'c']", "false"));
    CHECK(array("ARRAY_CONTAINS", "[[1,2],1.0]", "true"));
    CHECK(array("ARRAY_CONTAINS", "[[{'a':1,'b':[2]}],{'b':[2],'a':1}]", "true"));
    CHECK(array("ARRAY_CONTAINS", "[[{'a':1,'b':[2]}],{'a':1}]", "false"));
    CHECK(array("ARRAY_CONTAINS", "[[null],null]", "true"));
    CHECK(array("ARRAY_CONTAINS", "[[false],null]", "false"));
    CHECK(array("ARRAY_CONTAINS", "['abc','a']", "undefined"));
    CHECK(array("ARRAY_CONTAINS", "[['abc'],'abc',1]", "undefined"));
}

TEST(a_number_that_is_not_finite_is_in_no_array)
{
    CHECK(array("ARRAY_CONTAINS", "[['NaN','Infinity',1],'<NaN>',true]", "false"));
    CHECK(array("ARRAY_CONTAINS", "[['NaN','Infinity',1],'<Infinity>']", "false"));
}

TEST(a_partial_match_asks_only_for_what_is_given)
{
    CHECK(array("ARRAY_CONTAINS", "[[{'a':1,'b':2}],{'a':1},true]", "true"));
    CHECK(array("ARRAY_CONTAINS", "[[{'a':1,'b':2}],{'a':2},true]", "false"));
    CHECK(array("ARRAY_CONTAINS", "[[{'a':1,'b':2}],{'c':1},true]", "false"));
    CHECK(array("ARRAY_CONTAINS", "[[{'a':{'x':1,'y':2}}],{'a':{'y':2}},true]", "true"));
    CHECK(array("ARRAY_CONTAINS", "[[{'a':[{'x':1,'y':2}]}],{'a':[{'x':1}]},true]", "true"));
    CHECK(array("ARRAY_CONTAINS", "[[{'a':[1,2]}],{'a':[1]},true]", "false"));
    CHECK(array("ARRAY_CONTAINS", "[[[{'x':1,'y':2},3]],[{'x':1},3],true]", "true"));
    CHECK(array("ARRAY_CONTAINS", "[[{'a':1}],{},true]", "true"));
    CHECK(array("ARRAY_CONTAINS", "[['ab'],'a',true]", "false"));
    CHECK(array("ARRAY_CONTAINS", "[[{'a':1,'b':2}],{'a':1},false]", "false"));
}

TEST(any_and_all_are_three_valued)
{
    CHECK(array("ARRAY_CONTAINS_ANY", "[[1,true,'3',[1,2]],[1,2],9]", "true"));
    CHECK(array("ARRAY_CONTAINS_ANY", "[[1,2,3],'<undefined>',1]", "true"));
    CHECK(array("ARRAY_CONTAINS_ANY", "[[1,2,3],5,'<undefined>']", "undefined"));
    CHECK(array("ARRAY_CONTAINS_ANY", "[[1,2,3],5,6]", "false"));
    CHECK(array("ARRAY_CONTAINS_ANY", "[[],1]", "false"));
    CHECK(array("ARRAY_CONTAINS_ANY", "['<undefined>',1]", "undefined"));
    CHECK(array("ARRAY_CONTAINS_ALL", "[[1,2,3],1,3]", "true"));
    CHECK(array("ARRAY_CONTAINS_ALL", "[[1,2,3],1,'<undefined>']", "undefined"));
    CHECK(array("ARRAY_CONTAINS_ALL", "[[1,2,3],'<undefined>',5]", "false"));
    CHECK(array("ARRAY_CONTAINS_ALL", "[{'a':1},1]", "undefined"));
}

TEST(a_slice_may_count_from_the_end_and_is_clipped)
{
    CHECK(array("ARRAY_SLICE", "[['a','b','c'],1]", "['b','c']"));
    CHECK(array("ARRAY_SLICE", "[['a','b','c'],-2,1]", "['b']"));
    CHECK(array("ARRAY_SLICE", "[['a','b','c'],0,12]", "['a','b','c']"));
    CHECK(array("ARRAY_SLICE", "[['a','b','c'],-9,2]", "['a','b']"));
    CHECK(array("ARRAY_SLICE", "[['a','b','c'],3]", "[]"));
    CHECK(array("ARRAY_SLICE", "[['a','b','c'],1,0]", "[]"));
    CHECK(array("ARRAY_SLICE", "[['a','b','c'],1,-1]", "[]"));
    CHECK(array("ARRAY_SLICE", "[['a'],9223372036854775807,9223372036854775807]", "[]"));
    CHECK(array("ARRAY_SLICE", "[['a'],-9223372036854775808,-9223372036854775808]", "[]"));
    CHECK(array("ARRAY_SLICE", "[['a'],0.5]", "undefined"));
    CHECK(array("ARRAY_SLICE", "[['a'],0,'1']", "undefined"));
    CHECK(array("ARRAY_SLICE", "['abc',0]", "undefined"));
}

TEST(sums_are_exact_while_integers_suffice)
{
    CHECK(array("ARRAY_SUM", "[[1,2,3,4]]", "10"));
    CHECK(array("ARRAY_SUM", "[[9007199254740993,2]]", "9007199254740995"));
    CHECK(array("ARRAY_SUM", "[[9223372036854775807,1]]", "9223372036854776000"));
    CHECK(array("ARRAY_SUM", "[[0.5,1]]", "1.5"));
    CHECK(array("ARRAY_SUM", "[[]]", "undefined"));
    CHECK(array("ARRAY_SUM", "[[1,'a']]", "undefined"));
    CHECK(array("ARRAY_SUM", "[[1,null]]", "undefined"));
}

TEST(the_average_and_the_median_of_nothing_are_undefined)
{
    CHECK(array("ARRAY_AVG", "[[1,2,3,4]]", "2.5"));
    CHECK(array("ARRAY_AVG", "[[1,-2.7,3,-4]]", "-0.675"));
    CHECK(array("ARRAY_AVG", "[[]]", "undefined"));
    CHECK(array("ARRAY_AVG", "[[1,true]]", "undefined"));
    CHECK(array("ARRAY_MEDIAN", "[[1,2,3,4]]", "2.5"));
    CHECK(array("ARRAY_MEDIAN", "[[7.8,1.0,4.7,2.0,3.3]]", "3.3"));
    CHECK(array("ARRAY_MEDIAN", "[[1,-2.7,3,-4]]", "-0.8500000000000001"));
    CHECK(array("ARRAY_MEDIAN", "[[9007199254740993]]", "9007199254740993"));
    CHECK(array("ARRAY_MEDIAN", "[[]]", "undefined"));
    CHECK(array("ARRAY_MEDIAN", "[[1,'a',2]]", "undefined"));
}

TEST(least_and_greatest_cross_types_but_not_arrays_and_objects)
{
    CHECK(array("ARRAY_MAX", "[[12,'abc',true,false,null]]", "'abc'"));
    CHECK(array("ARRAY_MIN", "[[12,'abc',true,false,null]]", "null"));
    CHECK(array("ARRAY_MAX", "[[true,false]]", "true"));
    CHECK(array("ARRAY_MIN", "[[true,false]]", "false"));
    CHECK(array("ARRAY_MAX", "[['abc','ABC']]", "'abc'"));
    CHECK(array("ARRAY_MIN", "[[2,1.5]]", "1.5"));
    CHECK(array("ARRAY_MAX", "[[null,null]]", "null"));
    CHECK(array("ARRAY_MAX", "[[]]", "undefined"));
    CHECK(array("ARRAY_MIN", "[[1,[2]]]", "undefined"));
    CHECK(array("ARRAY_MAX", "[[{},1]]", "undefined"));
}

TEST(choose_counts_from_1_and_looks_only_at_what_it_chooses)
{
    CHECK(array("CHOOSE", "[1,'a','b']", "'a'"));
    CHECK(array("CHOOSE", "[2,'a','b']", "'b'"));
    CHECK(array("CHOOSE", "[2,'<undefined>','b']", "'b'"));
    CHECK(array("CHOOSE", "[1,'<undefined>','b']", "undefined"));
    CHECK(array("CHOOSE", "[0,'a']", "undefined"));
    CHECK(array("CHOOSE", "[2,'a']", "undefined"));
    CHECK(array("CHOOSE", "[-1,'a']", "undefined"));
    CHECK(array("CHOOSE", "[1.5,'a','b']", "undefined"));
    CHECK(array("CHOOSE", "['1','a']", "undefined"));
    CHECK(array("CHOOSE", "['<undefined>','a']", "undefined"));
}

TEST(iif_takes_the_first_value_for_true_alone)
{
    CHECK(array("IIF", "[true,1,2]", "1"));
    CHECK(array("IIF", "[false,1,2]", "2"));
    CHECK(array("IIF", "['<undefined>',1,2]", "2"));
    CHECK(array("IIF", "[123,1,2]", "2"));
    CHECK(array("IIF", "['true',1,2]", "2"));
    CHECK(array("IIF", "[true,'<undefined>',2]", "undefined"));
    CHECK(array("IIF", "[true,1,'<undefined>']", "1"));
}

TEST(members_become_elements_in_their_order)
{
    CHECK(array("OBJECTTOARRAY", "[{'b':1,'a':[2]}]", "[{'k':'b','v':1},{'k':'a','v':[2]}]"));
    CHECK(array("OBJECTTOARRAY", "[{'a':null},'name','value']", "[{'name':'a','value':null}]"));
    CHECK(array("OBJECTTOARRAY", "[{}]", "[]"));
    CHECK(array("OBJECTTOARRAY", "[[1]]", "undefined"));
    CHECK(array("OBJECTTOARRAY", "[{'a':1},'name']", "[{'name':'a','v':1}]"));
    CHECK(array("OBJECTTOARRAY", "[{'a':1},'v']", "[{'v':1}]"));
    CHECK(array("OBJECTTOARRAY", "[{'a':1},null]", "undefined"));
    CHECK(array("OBJECTTOARRAY", "[{'a':1},'k',2]", "undefined"));
    CHECK(array("OBJECTTOARRAY", "[{'a':1},'k','k']", "[{'k':1}]"));
}

TEST(sets_have_no_duplicates_and_keep_an_order)
{
    CHECK(array("SETUNION", "[[1,2,3,1],[3,4,1.0,'3']]", "[1,2,3,4,'3']"));
    CHECK(array("SETUNION", "[[{'a':1,'b':2}],[{'b':2,'a':1},[1],[1]]]", "[{'a':1,'b':2},[1]]"));
    CHECK(array("SETINTERSECT", "[[1,2,'A','B'],['A',1,'A',7,7]]", "[1,'A']"));
    CHECK(array("SETINTERSECT", "[[1,2],[]]", "[]"));
    CHECK(array("SETDIFFERENCE", "[[1,2,6,7,6],[1,2,3]]", "[6,7]"));
    CHECK(array("SETDIFFERENCE", "[[1,1,1],[]]", "[1]"));
    CHECK(array("SETEQUAL", "[[1,2,3,3],[1,2,2,3,1]]", "true"));
    CHECK(array("SETEQUAL", "[[1,2],[1,2,3]]", "false"));
    CHECK(array("SETEQUAL", "[[1,2,3],[1,2]]", "false"));
    CHECK(array("SETEQUAL", "[[1,2],[1,3]]", "false"));
    CHECK(array("SETEQUAL", "[[],[]]", "true"));
    CHECK(array("SETEQUAL", "[[1],['1']]", "false"));
}

TEST(an_item_has_the_number_the_evaluator_gives_it)
{
    CHECK(array("DOCUMENTID", "[13]", "13"));
    for (size_t i = 0; i < builtins_array.count; i++)
        if (strcmp(builtins_array.row[i].name, "DOCUMENTID") == 0)
            CHECK(builtins_array.row[i].flags == TAKES_ROW);
}

/* [from, from + count), as an argument. */
static struct value numbers(int64_t from, int64_t count)
{
    struct json_builder out;

    json_builder_init(&out, &test_op()->arena);
    json_begin_array(&out);
    for (int64_t i = from; i < from + count; i++)
        json_add_int(&out, i);
    json_end(&out);
    return value_from_json(json_built(&out));
}

static struct value run(struct eval *eval, const char *name, const struct value *arg)
{
    for (size_t i = 0; i < builtins_array.count; i++)
        if (strcmp(builtins_array.row[i].name, name) == 0)
            return builtins_array.row[i].code(eval, arg, builtins_array.row[i].args_min);
    return value_undefined;
}

TEST(sets_of_many_elements_take_no_time_that_grows_with_their_square)
{
    enum { MANY = 200000 };
    struct value arg[] = { numbers(0, MANY), numbers(MANY / 2, MANY) };
    struct eval eval = test_eval();
    int64_t before = test_cpu_ms();

    CHECK(json_count(run(&eval, "SETUNION", arg).json) == MANY + MANY / 2);
    CHECK(json_count(run(&eval, "SETINTERSECT", arg).json) == MANY / 2);
    CHECK(json_count(run(&eval, "SETDIFFERENCE", arg).json) == MANY / 2);
    CHECK(run(&eval, "SETEQUAL", arg).kind == JSON_FALSE);
    CHECK(test_cpu_ms() - before < 20000);
}

TEST(a_search_through_a_large_array_stops_when_the_operation_must)
{
    static const char *const names[] = { "ARRAY_CONTAINS", "ARRAY_CONTAINS_ANY", "SETUNION", "SETEQUAL" };
    struct value arg[] = { numbers(0, 10000), numbers(20000, 10000) };

    atomic_store(&test_op()->cancelled, true);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct eval eval = test_eval();

        run(&eval, names[i], arg);
        CHECK(eval.status == ST_UNAVAILABLE);
    }
}

TEST(a_result_past_the_memory_budget_fails_the_query)
{
    struct value arg[] = { numbers(0, 10000), numbers(5000, 10000) };
    static const char *const names[] = { "ARRAY_CONCAT", "SETUNION", "SETDIFFERENCE", "SETINTERSECT",
                                         "ARRAY_MEDIAN" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct eval eval = test_eval();
        size_t limit = test_op()->arena.limit_bytes;

        test_op()->arena.limit_bytes = test_op()->arena.used_bytes + 4096;
        run(&eval, names[i], arg);
        test_op()->arena.limit_bytes = limit;
        CHECK(eval.status == ST_QUERY_MEMORY);
    }
}
