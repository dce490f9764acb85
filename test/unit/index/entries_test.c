/* test/unit/index/entries_test.c - which entries a document has, and what a change of it changes. */
#include <stdlib.h>

#include "geo/cells.h"
#include "index/entries.h"
#include "index/path.h"
#include "keys/keys.h"
#include "rig.h"

enum { NUMBER = 7, TS_MS = 1700000000123 };

#define DEFAULT "{'includedPaths':[{'path':'/*'}],'excludedPaths':[{'path':'/_etag/?'}]}"

/* Doubles a number named n; of a string it does not know. */
static enum status doubled(struct op *op, struct json computed, size_t which, struct json document,
                           struct index_computed *result)
{
    struct json n = json_get(document, "n");
    struct json_builder out;

    *result = (struct index_computed){ .value = json_undefined };
    if (slice_is(json_string(json_get(json_element(computed, which), "query")), "impossible"))
        return ST_BAD_REQUEST;
    result->unknown = json_kind(n) == JSON_STRING;
    if (json_kind(n) != JSON_NUMBER)
        return ST_OK;
    json_builder_init(&out, &op->arena);
    json_add_int(&out, 2 * json_int(n));
    result->value = json_built(&out);
    return ST_OK;
}

static const struct index_policy *policy_with(const char *text, const char *computed, bool planar)
{
    struct op *op = test_op();
    struct index_policy_source source = { .policy = rig_json(op, text),
                                          .computed = computed ? rig_json(op, computed) : json_undefined,
                                          .planar = planar,
                                          .compute = doubled };
    struct index_policy *policy = NULL;

    CHECK(index_policy_read(op, &op->arena, &source, &policy) == ST_OK);
    return policy;
}

static const struct index_policy *policy_of(const char *text)
{
    return policy_with(text, NULL, false);
}

static struct index_item item_of(const struct index_policy *policy, const char *document)
{
    return (struct index_item){ .policy = policy, .document = rig_json(test_op(), document), .ts_ms = TS_MS };
}

static struct index_terms terms_of(const struct index_policy *policy, const char *document)
{
    struct index_item item = item_of(policy, document);
    struct index_terms terms = { 0 };

    CHECK(index_terms(test_op(), &item, &terms) == ST_OK);
    return terms;
}

/* ------- expected terms: [path, value] each ------- */

static struct slice range_term(struct json path, struct json value)
{
    uint8_t *term = arena_alloc(&test_op()->arena, TERM_PATH_BYTES + ORDERED_BYTES_MAX);
    struct policy_path parsed;

    CHECK(composite_path_parse(&test_op()->arena, json_string(path), &parsed) == 0);
    term_put_path(term, index_path_id(policy_of("{}"), &parsed.path));
    return slice_make(term, TERM_PATH_BYTES + term_put_value(term + TERM_PATH_BYTES, value, false));
}

static bool has_term(const struct index_terms *terms, struct slice term)
{
    for (size_t i = 0; i < terms->count; i++)
        if (slice_equal(terms->term[i], term))
            return true;
    return false;
}

static bool are_sorted(const struct index_terms *terms)
{
    for (size_t i = 1; i < terms->count; i++)
        if (slice_compare(terms->term[i - 1], terms->term[i]) >= 0)
            return false;
    return true;
}

/* _ts is in every list without being named. */
static bool are(const struct index_terms *terms, const char *expected)
{
    struct json list = rig_json(test_op(), expected);
    struct json ts = rig_json(test_op(), "['/_ts',1700000000]");

    for (struct json_iter i = json_iter(list); json_next(&i);)
        if (!has_term(terms, range_term(json_element(i.value, 0), json_element(i.value, 1))))
            return false;
    return has_term(terms, range_term(json_element(ts, 0), json_element(ts, 1))) && are_sorted(terms) &&
           terms->count == json_count(list) + 1;
}

static void tell(const char *policy, const char *document, const struct index_terms *terms)
{
    char what[300];

    snprintf(what, sizeof(what), "%s of %s gave %zu", policy, document, terms->count);
    test_failed(__FILE__, __LINE__, what);
}

#define OPT_IN(paths) "{'includedPaths':[" paths "],'excludedPaths':[{'path':'/*'}]}"
#define OPT_OUT(paths) "{'includedPaths':[{'path':'/*'}],'excludedPaths':[" paths "]}"

static const struct {
    const char *policy, *document, *terms;
} cases[] = {
    { DEFAULT, "{'id':'1'}", "[['/id','1']]" },
    { DEFAULT, "{'id':'1','a':null,'b':true,'c':1.5}", "[['/id','1'],['/a',null],['/b',true],['/c',1.5]]" },
    { DEFAULT, "{'a':{'b':{'c':1}}}", "[['/a',{'b':{'c':1}}],['/a/b',{'c':1}],['/a/b/c',1]]" },
    { DEFAULT, "{'t':['x','y','x']}", "[['/t',['x','y','x']],['/t/[]','x'],['/t/[]','y']]" },
    { DEFAULT, "{'t':[]}", "[['/t',[]]]" },
    { DEFAULT, "{'_etag':1,'_rid':{'a':1},'_ts':5,'a':{'_ts':5}}", "[['/a',{'_ts':5}],['/a/_ts',5]]" },
    { DEFAULT, "{'t':[[1,2],[1],{'a':1},{'a':2}]}",
      "[['/t',[[1,2],[1],{'a':1},{'a':2}]],['/t/[]',[1,2]],['/t/[]',[1]],['/t/[]',{'a':1}],['/t/[]',{'a':2}],"
      "['/t/[]/[]',1],['/t/[]/[]',2],['/t/[]/a',1],['/t/[]/a',2]]" },
    { OPT_OUT("{'path':'/a/?'}"), "{'a':1,'b':1}", "[['/b',1]]" },
    { OPT_OUT("{'path':'/a/?'}"), "{'a':{'b':1}}", "[['/a/b',1]]" },
    { OPT_OUT("{'path':'/a/*'}"), "{'a':{'b':1},'c':2}", "[['/c',2]]" },
    { OPT_OUT("{'path':'/a/[]/?'}"), "{'a':[1,{'b':1}]}", "[['/a',[1,{'b':1}]],['/a/[]/b',1]]" },
    { OPT_OUT("{'path':'/id/?'},{'path':'/_ts/?'}"), "{'id':'1'}", "[['/id','1']]" },
    { OPT_OUT("{'path':'/a b/?'}"), "{'a b':1,'a':2}", "[['/a',2]]" },
    { OPT_OUT("{'path':'/a/*'}"), "{'a':[[[1]]],'b':[[[1]]]}",
      "[['/b',[[[1]]]],['/b/[]',[[1]]],['/b/[]/[]',[1]],['/b/[]/[]/[]',1]]" },
    { OPT_IN("{'path':'/a/?'}"), "{'id':'1','a':1,'b':2}", "[['/id','1'],['/a',1]]" },
    { OPT_IN("{'path':'/a/?'}"), "{'a':{'b':1}}", "[['/a',{'b':1}]]" },
    { OPT_IN("{'path':'/a/?'}"), "{'a':[1]}", "[['/a',[1]]]" },
    { OPT_IN("{'path':'/a/[]/?'}"), "{'a':[1,[2]]}", "[['/a/[]',1],['/a/[]',[2]]]" },
    { OPT_IN("{'path':'/a/[]/b/?'}"), "{'a':[{'b':1,'c':2},{'b':3}],'b':1}",
      "[['/a/[]/b',1],['/a/[]/b',3]]" },
    { OPT_IN("{'path':'/a/*'}"), "{'a':{'b':[1]},'c':1}", "[['/a',{'b':[1]}],['/a/b',[1]],['/a/b/[]',1]]" },
    { "{'includedPaths':[{'path':'/f/i/n/*'}],'excludedPaths':[{'path':'/*'},{'path':'/f/i/*'}]}",
      "{'f':{'x':1,'i':{'y':1,'n':{'z':1}}}}", "[['/f/i/n',{'z':1}],['/f/i/n/z',1]]" },
    { "{'includedPaths':[{'path':'/*'},{'path':'/a/b/*'}],'excludedPaths':[{'path':'/a/*'},{'path':'/a/b/"
      "?'}]}",
      "{'a':{'b':{'c':1},'d':1},'e':1}", "[['/a/b/c',1],['/e',1]]" },
    { OPT_IN("{'path':'/a/?','indexes':[{'kind':'Hash','dataType':'String','precision':3}]}"), "{'a':1}",
      "[['/a',1]]" },
    { "{'includedPaths':[{'path':'/*'}],'vectorIndexes':[{'path':'/v','type':'flat'}]}", "{'v':[1]}",
      "[['/v',[1]],['/v/[]',1]]" },
};

TEST(a_document_has_the_entries_that_its_policy_gives_it_each_once_and_in_order)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct index_terms terms = terms_of(policy_of(cases[i].policy), cases[i].document);

        if (!are(&terms, cases[i].terms))
            tell(cases[i].policy, cases[i].document, &terms);
    }
}

/* ------- names that were seen before ------- */

static const struct index_policy *policy_with_seed(uint64_t seed)
{
    struct op *op = test_op();
    struct index_policy_source source = { .policy = rig_json(op, DEFAULT),
                                          .computed = json_undefined,
                                          .seed = { seed, 0 } };
    struct index_policy *policy = NULL;

    CHECK(index_policy_read(op, &op->arena, &source, &policy) == ST_OK);
    return policy;
}

static bool has_one_at(const struct index_terms *terms, path_id path)
{
    uint8_t bytes[TERM_PATH_BYTES + ORDERED_BYTES_MAX];

    term_put_path(bytes, path);
    return has_term(terms,
                    slice_make(bytes, TERM_PATH_BYTES + term_put_value(bytes + TERM_PATH_BYTES,
                                                                       rig_json(test_op(), "1"), false)));
}

/* The member `name` of the root and the one of p below it have the ids that their names give, and nothing else. */
static void check_ids(uint64_t seed, const char *name)
{
    struct hash_seed given = { seed, 0 };
    path_id root = path_root(TERM_RANGE), below = path_member(given, root, slice_of("p"));
    char document[200];
    struct index_terms terms;

    snprintf(document, sizeof(document), "{'%s':1,'p':{'%s':1}}", name, name);
    terms = terms_of(policy_with_seed(seed), document);
    CHECK(terms.count == 4); /* with p, and _ts */
    CHECK(has_one_at(&terms, path_member(given, root, slice_of(name))));
    CHECK(has_one_at(&terms, path_member(given, below, slice_of(name))));
}

/* Those of one length end alike, and so would be kept in one place; the longest are not kept. */
TEST(a_name_has_its_own_id_under_each_parent_and_seed_whatever_was_seen_before)
{
    for (int again = 0; again < 2; again++) {
        for (uint64_t seed = 0; seed < 3; seed++) {
            for (int i = 0; i < 200; i++) {
                char name[64];

                snprintf(name, sizeof(name), "%03d-the-end", i);
                check_ids(seed, name);
                snprintf(name, sizeof(name), "n%d", i);
                check_ids(seed, name);
                snprintf(name, sizeof(name), "%.*s", i % 40 + 1,
                         "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrst");
                check_ids(seed, name);
            }
        }
    }
}

TEST(mode_none_and_no_policy_have_no_entries)
{
    const struct index_policy *none = policy_of("{'indexingMode':'none','automatic':false}");

    CHECK(terms_of(none, "{'id':'1'}").count == 0);
    CHECK(terms_of(NULL, "{'id':'1'}").count == 0);
}

/* ------- composites and tuples ------- */

/* The values of a joined term as JSON; undefined as the string "undefined", hashes as "hashed". */
static bool joined_are(struct slice term, const struct index_joined *joined, const char *expected)
{
    struct json list = rig_json(test_op(), expected);
    struct slice rest = slice_after(term, TERM_PATH_BYTES);
    size_t part = 0;

    for (struct json_iter i = json_iter(list); json_next(&i); part++) {
        uint8_t want[ORDERED_BYTES_MAX];
        bool undefined = json_kind(i.value) == JSON_STRING && slice_is(json_string(i.value), "undefined");
        size_t size = term_put_value(want, undefined ? json_undefined : i.value, joined->descending[part]);

        if (rest.size < size || memcmp(rest.data, want, size) != 0 ||
            term_value_size(rest, joined->descending[part]) != size)
            return false;
        rest = slice_after(rest, size);
    }
    return rest.size == 0 && part == joined->part_count;
}

static size_t count_of_path(const struct index_terms *terms, path_id id)
{
    uint8_t path[TERM_PATH_BYTES];
    size_t count = 0;

    term_put_path(path, id);
    for (size_t i = 0; i < terms->count; i++)
        count += memcmp(terms->term[i].data, path, TERM_PATH_BYTES) == 0;
    return count;
}

static bool has_joined(const struct index_terms *terms, const struct index_joined *joined,
                       const char *expected)
{
    uint8_t path[TERM_PATH_BYTES];

    term_put_path(path, joined->id);
    for (size_t i = 0; i < terms->count; i++)
        if (memcmp(terms->term[i].data, path, TERM_PATH_BYTES) == 0 &&
            joined_are(terms->term[i], joined, expected))
            return true;
    return false;
}

#define COMPOSITES                                                              \
    "{'includedPaths':[],'excludedPaths':[{'path':'/*'}],'compositeIndexes':["  \
    "[{'path':'/a','order':'ascending'},{'path':'/b/c','order':'descending'}]," \
    "[{'path':'/a','order':'descending'},{'path':'/_ts','order':'descending'}]]}"

static const struct {
    const char *document, *first, *second;
} joined_cases[] = {
    { "{'a':1,'b':{'c':'x'}}", "[1,'x']", "[1,1700000000]" },
    { "{}", "['undefined','undefined']", "['undefined',1700000000]" },
    { "{'a':null,'b':[{'c':1}]}", "[null,'undefined']", "[null,1700000000]" },
    { "{'a':[1,2],'b':{'c':{'d':[3]}}}", "[[1,2],{'d':[3]}]", "[[1,2],1700000000]" },
};

TEST(every_document_has_exactly_one_entry_in_each_composite_index)
{
    const struct index_policy *policy = policy_of(COMPOSITES);
    size_t count;
    const struct index_joined *composite = index_policy_composites(policy, &count);

    REQUIRE(count == 2);
    for (size_t i = 0; i < sizeof(joined_cases) / sizeof(joined_cases[0]); i++) {
        struct index_terms terms = terms_of(policy, joined_cases[i].document);

        CHECK(terms.count == 3);
        CHECK(has_joined(&terms, &composite[0], joined_cases[i].first));
        CHECK(has_joined(&terms, &composite[1], joined_cases[i].second));
    }
}

TEST(a_tuple_has_an_entry_for_each_element_and_none_of_its_values_is_of_another)
{
    const struct index_policy *policy = policy_of(OPT_IN("{'path':'/e/[]/{n/f, c}/?'}"));
    size_t count;
    const struct index_joined *tuple = index_policy_tuples(policy, &count);
    struct index_terms terms = terms_of(
        policy, "{'e':[{'n':{'f':1},'c':2},{'c':3},{'n':{'f':4}},5,{'n':{'f':1},'c':2},[6]],'n':{'f':7}}");

    REQUIRE(count == 1);
    CHECK(count_of_path(&terms, tuple->id) == 4);
    CHECK(has_joined(&terms, tuple, "[1,2]"));
    CHECK(has_joined(&terms, tuple, "['undefined',3]"));
    CHECK(has_joined(&terms, tuple, "[4,'undefined']"));
    CHECK(has_joined(&terms, tuple, "['undefined','undefined']"));
    CHECK(terms.count == 5);
    CHECK(terms_of(policy, "{'e':[]}").count == 1 && terms_of(policy, "{'e':{'n':1}}").count == 1);
}

TEST(two_tuples_of_one_array_are_each_filled)
{
    const struct index_policy *policy =
        policy_of(OPT_IN("{'path':'/e/[]/{a, b}/?'},{'path':'/e/[]/{b, a}/?'},{'path':'/e/[]/a/?'}"));
    size_t count;
    const struct index_joined *tuple = index_policy_tuples(policy, &count);
    struct index_terms terms = terms_of(policy, "{'e':[{'a':1,'b':2}]}");

    REQUIRE(count == 2);
    CHECK(has_joined(&terms, &tuple[0], "[1,2]") && has_joined(&terms, &tuple[1], "[2,1]"));
    CHECK(terms.count == 4);
}

/* ------- cells and computed properties ------- */

TEST(geometries_have_cells_where_a_spatial_path_leads)
{
    const struct index_policy *policy =
        policy_of("{'includedPaths':[],'excludedPaths':[{'path':'/*'}],'spatialIndexes':[{'path':'/p/*'}]}");
    struct json path = rig_json(test_op(), "['/p']");
    struct index_terms terms = terms_of(policy, "{'p':{'type':'Point','coordinates':[1,2]},"
                                                "'q':{'type':'Point','coordinates':[1,2]}}");
    struct policy_path parsed;

    CHECK(terms.count == 2);
    CHECK(composite_path_parse(&test_op()->arena, json_string(json_element(path, 0)), &parsed) == 0);
    CHECK(count_of_path(&terms, path_spatial(index_path_id(policy, &parsed.path), NULL)) == 1);
    CHECK(terms_of(policy, "{'p':[{'q':{'type':'Point','coordinates':[1,2]}}]}").count == 2);
    CHECK(terms_of(policy, "{'p':{'type':'Point','coordinates':[1]}}").count == 1);
    CHECK(terms_of(policy, "{'p':{'type':'Point','coordinates':[1,91]}}").count == 1);
}

#define DOUBLED "[{'name':'d','query':'SELECT VALUE c.n * 2 FROM c'}]"

TEST(a_computed_property_has_entries_where_a_path_names_it_and_its_stored_namesake_has_none)
{
    const struct index_policy *named =
        policy_with("{'includedPaths':[{'path':'/*'},{'path':'/d/?'}]}", DOUBLED, false);
    const struct index_policy *unnamed = policy_with("{'includedPaths':[{'path':'/*'}]}", DOUBLED, false);
    struct index_terms terms = terms_of(named, "{'n':4,'d':'stored'}");
    struct json eight = rig_json(test_op(), "8");
    uint8_t term[TERM_PATH_BYTES + ORDERED_BYTES_MAX];
    path_id path = 0;

    CHECK(index_policy_computes(named, slice_of("d"), slice_of("SELECT VALUE c.n * 2 FROM c"), &path));
    term_put_path(term, path);
    CHECK(has_term(&terms,
                   slice_make(term, TERM_PATH_BYTES + term_put_value(term + TERM_PATH_BYTES, eight, false))));
    CHECK(terms.count == 3); /* the time, n, d */
    terms = terms_of(named, "{'d':'stored'}");
    CHECK(are(&terms, "[]"));
    terms = terms_of(unnamed, "{'n':4,'d':'stored'}");
    CHECK(are(&terms, "[['/n',4]]"));
}

TEST(a_computed_value_that_is_not_known_has_an_entry_that_says_so)
{
    const struct index_policy *policy =
        policy_with("{'includedPaths':[{'path':'/d/?'}],'excludedPaths':[{'path':'/*'}]}", DOUBLED, false);
    struct index_terms terms = terms_of(policy, "{'n':'four'}");
    uint8_t term[TERM_PATH_BYTES + ORDERED_BYTES_MAX];
    path_id path = 0;

    CHECK(index_policy_computes(policy, slice_of("d"), index_policy_query(policy, slice_of("d")), &path));
    term_put_path(term, path);
    CHECK(has_term(&terms, slice_make(term, TERM_PATH_BYTES + term_put_value(term + TERM_PATH_BYTES,
                                                                             json_undefined, false))));
}

TEST(nothing_is_computed_on_a_thread_that_may_not_block)
{
    const struct index_policy *policy =
        policy_with("{'includedPaths':[{'path':'/*'},{'path':'/d/?'}]}", DOUBLED, false);
    struct index_item item = item_of(policy, "{'n':4}");
    struct index_terms terms;

    test_op()->may_block = false;
    CHECK(index_terms(test_op(), &item, &terms) == ST_WOULD_BLOCK);
    test_op()->may_block = true;
    CHECK(index_terms(test_op(), &item, &terms) == ST_OK);
}

TEST(what_cannot_be_computed_has_no_entries)
{
    const struct index_policy *policy = policy_with("{'includedPaths':[{'path':'/*'},{'path':'/d/?'}]}",
                                                    "[{'name':'d','query':'impossible'}]", false);
    struct index_terms terms = terms_of(policy, "{'n':4,'d':5}");

    CHECK(are(&terms, "[['/n',4]]"));
}

/* ------- changes ------- */

static struct batch *change(const struct index_item *before, struct index_item *after)
{
    struct batch *batch = batch_new(test_op(), bucket_make(3, 0));

    CHECK(index_change(test_op(), batch, NUMBER, before, after) == ST_OK);
    return batch;
}

static size_t count_changes(struct batch *batch, bool present)
{
    size_t count, found = 0;
    const struct batch_index_entry *entry = batch_index_entries(batch, &count);

    for (size_t i = 0; i < count; i++)
        found += entry[i].present == present;
    return found;
}

TEST(an_entry_is_the_key_of_term_and_number)
{
    struct index_item item = item_of(policy_of(DEFAULT), "{'id':'1','a':[1,2]}");
    struct batch *batch = change(NULL, &item);
    struct index_terms terms;
    size_t count;
    const struct batch_index_entry *entry = batch_index_entries(batch, &count);

    REQUIRE(index_terms(test_op(), &item, &terms) == ST_OK && terms.count == count);
    for (size_t i = 0; i < count; i++) {
        CHECK(entry[i].present && !entry[i].dated);
        CHECK(slice_equal(entry[i].key,
                          key_index(&test_op()->arena, bucket_make(3, 0), terms.term[i], NUMBER)));
    }
}

TEST(a_replace_touches_only_the_entries_that_differ)
{
    const struct index_policy *policy = policy_of(DEFAULT);
    struct index_item before = item_of(policy, "{'id':'1','a':1,'b':[1,2],'c':'x'}");
    struct index_item after = item_of(policy, "{'c':'x','id':'1','b':[2,1],'a':2}");
    struct batch *batch = change(&before, &after);

    CHECK(count_changes(batch, false) == 2 && count_changes(batch, true) == 2); /* /a, and /b as a whole */
    batch = change(&before, &before);
    CHECK(count_changes(batch, false) == 0 && count_changes(batch, true) == 0);
    batch = change(&before, NULL);
    CHECK(count_changes(batch, false) == 7 && count_changes(batch, true) == 0);
}

TEST(a_change_of_policy_is_a_change_of_entries)
{
    struct index_item before = item_of(policy_of(DEFAULT), "{'id':'1','a':1,'b':2}");
    struct index_item after = item_of(policy_of(OPT_OUT("{'path':'/b/?'}")), "{'id':'1','a':1,'b':2}");
    struct batch *batch = change(&before, &after);

    CHECK(count_changes(batch, false) == 1 && count_changes(batch, true) == 0);
}

TEST(times_that_are_not_known_are_filled_in_later)
{
    struct index_item item = item_of(policy_of(COMPOSITES), "{'id':'1','a':1}");
    uint8_t unknown[2][TERM_TIME_BYTES];
    size_t count, dated = 0;
    const struct batch_index_entry *entry;

    item.ts_ms = TERM_TIME_UNKNOWN;
    entry = batch_index_entries(change(NULL, &item), &count);
    CHECK(count == 4);
    term_put_time(unknown[0], TERM_TIME_UNKNOWN, false);
    term_put_time(unknown[1], TERM_TIME_UNKNOWN, true);
    for (size_t i = 0; i < count; i++) {
        if (!entry[i].dated)
            continue;
        dated++;
        CHECK(entry[i].offset + TERM_TIME_BYTES + 8 <= entry[i].key.size);
        CHECK(memcmp(entry[i].key.data + entry[i].offset, unknown[entry[i].descending], TERM_TIME_BYTES) ==
              0);
    }
    CHECK(dated == 2);
}

TEST(what_a_transaction_wrote_and_writes_again_keeps_its_open_time)
{
    const struct index_policy *policy = policy_of(DEFAULT);
    struct index_item before = item_of(policy, "{'id':'1','a':1}"),
                      after = item_of(policy, "{'id':'1','a':2}");
    struct batch *batch;

    before.ts_ms = after.ts_ms = TERM_TIME_UNKNOWN;
    batch = change(&before, &after);
    CHECK(count_changes(batch, false) == 1 && count_changes(batch, true) == 1);
    before.ts_ms = TS_MS;
    batch = change(&before, &after);
    CHECK(count_changes(batch, false) == 2 && count_changes(batch, true) == 2);
}

/* ------- large ones ------- */

static struct json many_numbers(struct op *op, size_t count, size_t different)
{
    struct json_builder out;

    json_builder_init(&out, &op->arena);
    json_begin_object(&out);
    json_add_name(&out, slice_of("a"));
    json_begin_array(&out);
    for (size_t i = 0; i < count; i++)
        json_add_int(&out, (int64_t)(i * 7919 % different));
    json_end(&out);
    json_end(&out);
    return json_built(&out);
}

TEST_OF_SIZE(a_document_of_two_megabytes_has_hundreds_of_thousands_of_entries_in_the_memory_of_a_request)
{
    const struct index_policy *policy = policy_of(DEFAULT);
    size_t counts[][2] = { { 290000, 290000 }, { 1000000, 10 } };

    for (size_t i = 0; i < 2; i++) {
        int64_t began = test_cpu_ms();
        struct index_terms terms;
        struct op op;

        op_init(&op, test_op()->env, OP_MEMORY_BYTES_MAX);
        struct index_item item = { .policy = policy,
                                   .document = many_numbers(&op, counts[i][0], counts[i][1]),
                                   .ts_ms = TS_MS };

        CHECK(index_terms(&op, &item, &terms) == ST_OK && terms.count == counts[i][1] + 2);
        CHECK(test_cpu_ms() - began < 10000);
        op_free(&op);
    }
}

static struct json many_from(struct op *op, int64_t first, size_t count)
{
    struct json_builder out;

    json_builder_init(&out, &op->arena);
    json_begin_object(&out);
    json_add_name(&out, slice_of("a"));
    json_begin_array(&out);
    for (size_t i = 0; i < count; i++)
        json_add_int(&out, first + (int64_t)i);
    json_end(&out);
    json_end(&out);
    return json_built(&out);
}

TEST_OF_SIZE(such_a_document_can_be_replaced_by_another_that_has_no_entry_in_common_with_it)
{
    enum { COUNT = 600000 }; /* more than two megabytes have */
    const struct index_policy *policy = policy_of(DEFAULT);
    size_t count = 0;
    struct op op;

    op_init(&op, test_op()->env, OP_MEMORY_BYTES_MAX);
    struct index_item before = { .policy = policy,
                                 .document = many_from(&op, 1000000, COUNT),
                                 .ts_ms = TS_MS };
    struct index_item after = { .policy = policy,
                                .document = many_from(&op, 2000000, COUNT),
                                .ts_ms = TS_MS,
                                .bytes_max = INDEX_ITEM_BYTES_MAX };
    struct batch *batch = batch_new(&op, bucket_make(3, 0));

    CHECK(index_change(&op, batch, NUMBER, &before, &after) == ST_OK && !after.left_out);
    batch_index_entries(batch, &count);
    CHECK(count == 2 * (COUNT + 1));
    CHECK(arena_try_alloc(&op.arena, 4 * ITEM_BYTES_MAX)); /* the rest of the request has what it had */
    op_free(&op);
}

/* Whatever the limit: all of them, or none. */
TEST(an_item_whose_terms_take_more_memory_than_they_may_is_left_out)
{
    const struct index_policy *policy = policy_of(DEFAULT);
    bool left_out = false, indexed = false;
    struct op op;

    op_init(&op, test_op()->env, OP_MEMORY_BYTES_MAX);
    struct index_item item = { .policy = policy,
                               .document = many_numbers(&op, 20000, 20000),
                               .ts_ms = TS_MS };

    for (size_t bytes = 100000; bytes < 4000000; bytes += 100000) {
        struct arena_mark mark = arena_mark(&op.arena);
        struct batch *batch = batch_new(&op, bucket_make(3, 0));
        size_t count;

        item.bytes_max = bytes;
        item.left_out = false;
        CHECK(index_change(&op, batch, NUMBER, NULL, &item) == ST_OK);
        batch_index_entries(batch, &count);
        CHECK(count == (item.left_out ? 0 : 20002) && !(indexed && item.left_out));
        left_out |= item.left_out;
        indexed |= !item.left_out;
        arena_rewind(&op.arena, mark);
    }
    CHECK(left_out && indexed);
    op_free(&op);
}

/* However much is left on the account: all of its entries, or a refusal, and never a silent gap. */
TEST(an_item_for_whose_terms_there_is_no_memory_now_is_refused_and_not_left_out)
{
    bool refused = false, indexed = false;

    for (size_t mb = 3; mb <= 40; mb++) {
        struct index_item item = { .policy = policy_of(DEFAULT), .ts_ms = TS_MS };
        struct account account;
        struct batch *batch;
        enum status st;
        struct op op;

        account_init(&account, mb << 20);
        op_init(&op, test_op()->env, OP_MEMORY_BYTES_MAX);
        item.document = many_numbers(&op, 20000, 20000);
        batch = batch_new(&op, bucket_make(3, 0));
        op_join_account(&op, &account);
        st = index_change(&op, batch, NUMBER, NULL, &item);
        CHECK(!item.left_out && (st == ST_OK || st == ST_TOO_LARGE));
        CHECK(st == ST_OK || op_explain_memory(&op, st) == ST_TOO_MANY_REQUESTS);
        CHECK(!(indexed && st != ST_OK));
        refused |= st != ST_OK;
        indexed |= st == ST_OK;
        op_free(&op);
        CHECK(atomic_load(&account.used_bytes) == 0);
    }
    CHECK(refused && indexed);
}

/* A script may delete many large items: the one that goes too far is refused, and has changed nothing. */
TEST(an_operation_changes_only_so_many_entries)
{
    const struct index_policy *policy = policy_of(DEFAULT);
    size_t before = 0, after = 0, changes = 0;
    enum status st = ST_OK;
    struct batch *batch;
    struct op op;

    op_init(&op, test_op()->env, OP_MEMORY_BYTES_MAX);
    batch = batch_new(&op, bucket_make(3, 0));
    struct index_item item = { .policy = policy,
                               .document = many_numbers(&op, 200000, 200000),
                               .ts_ms = TS_MS };

    while (st == ST_OK && changes < 100) {
        batch_index_entries(batch, &before);
        st = index_change(&op, batch, NUMBER + changes++, &item, NULL);
    }
    batch_index_entries(batch, &after);
    CHECK(st == ST_TOO_LARGE && changes > 2 && after == before);
    op_free(&op);
}

/* {"a":{"a":...[1,2,...]...}}: hashing each level from the leaves up would take seconds. */
TEST(a_deep_document_is_hashed_once)
{
    struct json_builder out;
    struct index_item item = { .policy = policy_of(DEFAULT), .document = json_undefined, .ts_ms = TS_MS };
    struct index_terms terms;
    int64_t began;

    json_builder_init(&out, &test_op()->arena);
    for (int i = 0; i < JSON_DEPTH_MAX - 2; i++) {
        json_begin_object(&out);
        json_add_name(&out, slice_of("a"));
    }
    json_begin_array(&out);
    for (int i = 0; i < 100000; i++)
        json_add_int(&out, 1);
    for (int i = 0; i < JSON_DEPTH_MAX - 1; i++)
        json_end(&out);
    item.document = json_built(&out);
    began = test_cpu_ms();
    CHECK(index_terms(test_op(), &item, &terms) == ST_OK && terms.count == JSON_DEPTH_MAX - 2 + 2);
    CHECK(test_cpu_ms() - began < 1500);
}
