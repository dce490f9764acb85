/* cli/try.c - a plan is read, a scratch database made, filled, asked, and compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "connect.h"
#include "embed.h"
#include "mapping.h"
#include "members.h"
#include "plan.h"
#include "text.h"
#include "try.h"

enum { ITEMS_MAX = 20000, READS = 50, TIMES = 3, PARAMETERS = 32, RANGE_UNITS = 6000 };
enum side { TODAY, PLANNED, SIDES };

static const char *const side_names[SIDES] = { "today", "planned" };

/* What an operation costs on the average. */
struct cost {
    double charge, us, ranges;
    size_t times;
};

/* An item that may be read: its id, and its partition key as JSON. */
struct known {
    char *id, *key;
};

struct attempt {
    const struct cli *cli;
    const char *name;        /* of the container in the plan */
    struct text from;        /* its link */
    struct text link[SIDES]; /* of its two copies */
    orrery_value plan, record;
    size_t items[SIDES];
    double bytes[SIDES];
    struct cost create[SIDES], read[SIDES];
    struct known known[SIDES][READS];
    size_t known_count[SIDES];
    orrery_value key[SIDES]; /* the paths of the partition key */
    orrery_json *made[SIDES];
    double total[SIDES];
    struct embeds embeds;
    char *element[EMBEDS_MAX];   /* one of each, to be added to others; NULL: there was none */
    const struct attempt *owner; /* what is embedded: in whose items; NULL: it is not */
    const char *member, *element_of_it;
    bool is_single;
};

/* What is embedded is asked for where its owners are. */
static const struct attempt *asked_of(const struct attempt *attempt, enum side side)
{
    return side == PLANNED && attempt->owner ? attempt->owner : attempt;
}

/* ---- costs ---- */

static double mean(const struct cost *cost, double sum)
{
    return cost->times ? sum / (double)cost->times : 0;
}

static size_t count_ranges(const char *ranges)
{
    size_t count = *ranges != '\0';

    for (; *ranges; ranges++)
        count += *ranges == ',';
    return count;
}

static void add_cost(struct cost *cost, const orrery_diagnostics *took, int64_t began_us)
{
    cost->charge += took->charge;
    cost->us += (double)(clock_us() - began_us);
    cost->ranges += (double)count_ranges(took->ranges);
    cost->times++;
}

static bool worked(const struct cli *cli, orrery_status status)
{
    if (!orrery_failed(status))
        return true;
    cli_tell(cli, status, NULL);
    return false;
}

/* ---- the copies ---- */

static bool make_copy(struct attempt *attempt, const char *scratch, enum side side, orrery_value definition)
{
    static const orrery_value nothing = { 0 };
    double ranges = orrery_value_number(orrery_value_member(attempt->record, "rangesMost"));
    orrery_options options = { .size = sizeof(options),
                               .throughput = ranges > 1 ? RANGE_UNITS * (int)ranges : 0 };
    struct text body = { 0 }, feed = { 0 }, id = { 0 };
    orrery_response *response = NULL;
    orrery_status status;
    bool good;

    text_printf(&feed, "dbs/%s/colls", scratch);
    text_printf(&id, "%s-%s", attempt->name, side_names[side]);
    text_printf(&attempt->link[side], "%s/%s", text_of(&feed), text_of(&id));
    plan_define(&body, text_of(&id), definition, side == PLANNED ? attempt->plan : nothing);
    status =
        orrery_create(attempt->cli->client, text_of(&feed), text_of(&body), body.size, &options, &response);
    good = worked(attempt->cli, status) && orrery_json_parse(orrery_response_body(response, NULL),
                                                             ORRERY_TEXT, &attempt->made[side]) == ORRERY_OK;
    if (good)
        attempt->key[side] = orrery_value_member(
            orrery_value_member(orrery_json_root(attempt->made[side]), "partitionKey"), "paths");
    orrery_response_free(response);
    text_free(&feed);
    text_free(&body);
    text_free(&id);
    return good;
}

static bool make_copies(struct attempt *attempt, const char *scratch)
{
    orrery_response *response = NULL;
    bool good =
        worked(attempt->cli, orrery_read(attempt->cli->client, text_of(&attempt->from), NULL, &response));

    for (int side = 0; good && side < SIDES; side++)
        good = make_copy(attempt, scratch, (enum side)side, orrery_response_json(response));
    orrery_response_free(response);
    return good;
}

/* ---- items ---- */

/* Its partition key as JSON, ["a",1]; NULL: it has none at one of the paths. */
static char *key_of(orrery_value paths, orrery_value item)
{
    struct text key = { 0 };
    bool is_whole = true;

    text_byte(&key, '[');
    for (size_t i = 0; is_whole && i < orrery_value_count(paths); i++) {
        orrery_value value = plan_value_at(item, orrery_value_text(orrery_value_element(paths, i), NULL));
        char *text = NULL;

        is_whole = orrery_value_type(value) != ORRERY_UNDEFINED &&
                   orrery_value_print(value, &text, NULL) == ORRERY_OK;
        text_printf(&key, "%s%s", i ? "," : "", is_whole ? text : "");
        orrery_free(text);
    }
    text_byte(&key, ']');
    if (is_whole)
        return key.data;
    text_free(&key);
    return NULL;
}

static void remember(struct attempt *attempt, enum side side, orrery_value item)
{
    struct known known = { .key = key_of(attempt->key[side], item) };
    orrery_value id = orrery_value_member(item, "id");

    if (!known.key || orrery_value_type(id) != ORRERY_STRING || attempt->known_count[side] == READS) {
        free(known.key);
        return;
    }
    known.id = must_copy(orrery_value_text(id, NULL), strlen(orrery_value_text(id, NULL)));
    attempt->known[side][attempt->known_count[side]++] = known;
}

static bool put_item(struct attempt *attempt, enum side side, const char *row, size_t size, orrery_value item)
{
    orrery_diagnostics took = { .size = sizeof(took) };
    orrery_options options = { .size = sizeof(options), .minimal = 1, .diagnostics = &took };
    struct text plain = { 0 };
    orrery_status status;
    int64_t began;

    members_without_system(&plain, row, size);
    began = clock_us();
    status = orrery_item_create(attempt->cli->client, text_of(&attempt->link[side]), text_of(&plain),
                                plain.size, NULL, &options, NULL);
    add_cost(&attempt->create[side], &took, began);
    attempt->items[side]++;
    attempt->bytes[side] += (double)plain.size;
    text_free(&plain);
    remember(attempt, side, item);
    return worked(attempt->cli, status);
}

/* The items of the container, or the rows of the plan's query over it. Without one nothing is asked that would be recorded. */
static orrery_status open_items(const struct attempt *attempt, const char *mapping, orrery_query **query)
{
    const char *link = text_of(&attempt->from);

    return mapping ? orrery_query_open(attempt->cli->client, link, mapping, NULL, 0, NULL, NULL, query)
                   : orrery_list_open(attempt->cli->client, link, NULL, NULL, query);
}

/* They become the items of a copy. */
static bool fill(struct attempt *attempt, enum side side)
{
    const char *mapping = side == PLANNED ? plan_mapping(attempt->plan) : NULL;
    orrery_query *query = NULL;
    orrery_status status = open_items(attempt, mapping, &query);
    bool good = true;

    while (good && attempt->items[side] < ITEMS_MAX && !orrery_failed(status) && status != ORRERY_DONE) {
        size_t size;
        const char *row;

        status = orrery_query_step(query);
        row = status == ORRERY_ROW ? orrery_query_row(query, &size) : NULL;
        good = !row || put_item(attempt, side, row, size, orrery_query_value(query));
    }
    if (orrery_failed(status))
        cli_tell(attempt->cli, status, mapping);
    orrery_query_close(query);
    return good && !orrery_failed(status);
}

/* ---- items with others in them ---- */

static bool put_rows(struct attempt *attempt, orrery_value rows)
{
    orrery_value row;
    bool good = true;

    for (size_t at = 0; good && orrery_value_next(rows, &at, NULL, &row);) {
        char *text = NULL;
        size_t size;

        good =
            orrery_value_print(row, &text, &size) == ORRERY_OK && put_item(attempt, PLANNED, text, size, row);
        orrery_free(text);
    }
    return good;
}

static bool put_whole(struct attempt *attempt, const struct whole *whole)
{
    const char *mapping = plan_mapping(attempt->plan);
    struct text item = { 0 };
    orrery_json *json = NULL;
    orrery_response *answer = NULL;
    orrery_value root;
    bool good = embed_join(&attempt->embeds, whole, &item) &&
                orrery_json_parse(text_of(&item), item.size, &json) == ORRERY_OK;

    root = orrery_json_root(json);
    if (good && mapping)
        answer = mapping_run(attempt->cli, text_of(&attempt->from), mapping, &root, 1);
    if (good && mapping)
        good = answer && put_rows(attempt, orrery_value_element(
                                               orrery_value_member(orrery_response_json(answer), "rows"), 0));
    else if (good)
        good = put_item(attempt, PLANNED, text_of(&item), item.size, root);
    orrery_response_free(answer);
    orrery_json_free(json);
    text_free(&item);
    return good;
}

/* An element of each kind, to see what one more costs. */
static void remember_elements(struct attempt *attempt, const struct whole *whole)
{
    for (size_t i = 0; i < whole->count; i++)
        for (size_t e = 0; e < attempt->embeds.count; e++) {
            size_t size = strlen(attempt->embeds.embed[e].member);
            orrery_json *json = NULL;

            if (!attempt->element[e] &&
                strncmp(whole->part[i].name, attempt->embeds.embed[e].member, size) == 0 &&
                whole->part[i].name[size] == '[' &&
                orrery_json_parse(whole->part[i].text, ORRERY_TEXT, &json) == ORRERY_OK)
                orrery_value_print(orrery_value_element(orrery_value_member(orrery_json_root(json), "e"), 0),
                                   &attempt->element[e], NULL);
            orrery_json_free(json);
        }
}

/* All items of a source, in their places. */
static bool gather(struct attempt *attempt, const struct source *source, size_t at, struct wholes *wholes)
{
    orrery_query *query = NULL;
    orrery_status status =
        orrery_list_open(attempt->cli->client, text_of(&source[at].link), NULL, NULL, &query);
    uint64_t parts = 0;
    bool good = true, removes = false;

    for (size_t i = 0; good && i < ITEMS_MAX && !orrery_failed(status); i++) {
        orrery_value item;

        status = orrery_query_step(query);
        if (status != ORRERY_ROW)
            break;
        item = orrery_query_value(query);
        good = embed_apply(attempt->cli, &attempt->embeds, source, at,
                           &(struct images){ &item, &removes, 1, NULL }, wholes, &parts);
    }
    if (orrery_failed(status))
        cli_tell(attempt->cli, status, NULL);
    orrery_query_close(query);
    return good && !orrery_failed(status);
}

static bool fill_with_parts(struct attempt *attempt)
{
    const char *database = attempt->cli->options->word[0];
    struct source source[SOURCES_MAX] = { 0 };
    size_t count = embed_sources(&attempt->embeds, database, attempt->name, source);
    bool good = embed_sources_define(attempt->cli, &attempt->embeds, source, count);
    struct wholes wholes = { 0 };

    for (size_t i = 0; good && i < count; i++)
        good = gather(attempt, source, i, &wholes);
    for (size_t i = 0; good && i < wholes.count; i++) {
        remember_elements(attempt, wholes.whole[i]);
        good = !wholes.whole[i]->owner || put_whole(attempt, wholes.whole[i]);
    }
    wholes_free(&wholes);
    embed_sources_free(source, count);
    return good;
}

/* One more of what is embedded is a change of its owner. False: no owner has a place for it. */
static bool add_elements(struct attempt *attempt)
{
    const struct attempt *owner = attempt->owner;
    struct text path = { 0 };
    bool good = attempt->element_of_it && owner->known_count[PLANNED] > 0;

    text_printf(&path, "/%s%s", attempt->member, attempt->is_single ? "" : "/-");
    for (size_t i = 0; good && i < owner->known_count[PLANNED]; i++) {
        orrery_diagnostics took = { .size = sizeof(took) };
        orrery_options options = { .size = sizeof(options), .minimal = 1, .diagnostics = &took };
        orrery_patch *patch = NULL;
        struct key key = { 0 };
        int64_t began;

        good = orrery_patch_new(&patch) == ORRERY_OK && key_read(&key, owner->known[PLANNED][i].key);
        if (good) {
            orrery_patch_add(patch, text_of(&path), attempt->element_of_it);
            began = clock_us();
            good = !orrery_failed(orrery_item_patch(owner->cli->client, text_of(&owner->link[PLANNED]),
                                                    owner->known[PLANNED][i].id, &key.key, patch, &options,
                                                    NULL));
            add_cost(&attempt->create[PLANNED], &took, began);
        }
        orrery_patch_free(patch);
        key_free(&key);
    }
    text_free(&path);
    return good;
}

static bool read_items(struct attempt *attempt, enum side side)
{
    const struct attempt *of = asked_of(attempt, side);
    bool good = true;

    for (size_t i = 0; good && i < of->known_count[side]; i++) {
        orrery_diagnostics took = { .size = sizeof(took) };
        orrery_options options = { .size = sizeof(options), .diagnostics = &took };
        struct key key = { 0 };
        int64_t began = clock_us();

        good = key_read(&key, of->known[side][i].key) &&
               worked(of->cli, orrery_item_read(of->cli->client, text_of(&of->link[side]),
                                                of->known[side][i].id, &key.key, &options, NULL));
        add_cost(&attempt->read[side], &took, began);
        key_free(&key);
    }
    return good;
}

/* ---- queries ---- */

static size_t read_parameters(orrery_value list, orrery_parameter parameter[PARAMETERS])
{
    orrery_value one;
    size_t count = 0;

    for (size_t at = 0; count < PARAMETERS && orrery_value_next(list, &at, NULL, &one);) {
        char *value = NULL;

        if (orrery_value_print(orrery_value_member(one, "value"), &value, NULL) != ORRERY_OK)
            continue;
        parameter[count].name = orrery_value_text(orrery_value_member(one, "name"), NULL);
        parameter[count++].value = value;
    }
    return count;
}

/* A recorded query as it is asked on one side. */
struct question {
    const char *sql;
    orrery_parameter parameter[PARAMETERS];
    size_t count;
    struct key key;
    bool has_key;
};

/* Range by range, as the SDKs ask, so that each range's part is paid for. False: it does not run there. */
static bool ask_once(const struct attempt *attempt, enum side side, const struct question *question,
                     struct cost *cost)
{
    orrery_diagnostics took = { .size = sizeof(took) };
    orrery_options options = { .size = sizeof(options),
                               .parallel = !question->has_key,
                               .diagnostics = &took };
    orrery_query *query = NULL;
    int64_t began = clock_us();
    orrery_status status =
        orrery_query_open(attempt->cli->client, text_of(&asked_of(attempt, side)->link[side]), question->sql,
                          question->parameter, question->count, question->has_key ? &question->key.key : NULL,
                          &options, &query);

    while (status == ORRERY_OK || status == ORRERY_ROW)
        status = orrery_query_step(query);
    orrery_query_close(query);
    add_cost(cost, &took, began);
    return status == ORRERY_DONE;
}

/* What the plan has instead of a query, by its outline. */
static orrery_value instead_of(const struct attempt *attempt, orrery_value query)
{
    return orrery_value_member(orrery_value_member(attempt->plan, "queries"),
                               orrery_value_text(orrery_value_member(query, "query"), NULL));
}

static const char *text_for(const struct attempt *attempt, enum side side, orrery_value query,
                            orrery_value example)
{
    orrery_value instead = instead_of(attempt, query);

    if (side == PLANNED && orrery_value_type(instead) == ORRERY_STRING)
        return orrery_value_text(instead, NULL);
    return orrery_value_text(orrery_value_member(example, "query"), NULL);
}

/* The key that the request named goes with the query where the container still has that key. */
static void name_key(const struct attempt *attempt, enum side side, orrery_value example,
                     struct question *question)
{
    bool is_same = side == TODAY || (!attempt->owner &&
                                     orrery_value_type(orrery_value_member(attempt->plan, "partitionKey")) ==
                                         ORRERY_UNDEFINED);
    orrery_value key = orrery_value_member(example, "key");

    question->has_key =
        is_same && orrery_value_type(key) == ORRERY_ARRAY && key_from_value(&question->key, key);
}

static bool ask_example(const struct attempt *attempt, enum side side, orrery_value query,
                        orrery_value example, struct cost *cost)
{
    struct question question = { .sql = text_for(attempt, side, query, example) };
    bool good = true;

    question.count = read_parameters(orrery_value_member(example, "parameters"), question.parameter);
    name_key(attempt, side, example, &question);
    for (int i = 0; good && i < TIMES; i++)
        good = ask_once(attempt, side, &question, cost);
    for (size_t i = 0; i < question.count; i++)
        orrery_free((char *)question.parameter[i].value);
    key_free(&question.key);
    return good;
}

/* False: it has no example, or does not run on that side. One that the plan has nothing for is not asked there any more. */
static bool ask(const struct attempt *attempt, enum side side, orrery_value query, struct cost *cost)
{
    orrery_type instead = orrery_value_type(instead_of(attempt, query));
    orrery_value example;
    bool good = false;

    if (side == PLANNED && instead == ORRERY_NULL)
        return true;
    if (side == PLANNED && instead == ORRERY_UNDEFINED && attempt->owner)
        return false;
    for (size_t at = 0; orrery_value_next(orrery_value_member(query, "examples"), &at, NULL, &example);) {
        good = ask_example(attempt, side, query, example, cost);
        if (!good)
            break;
    }
    return good;
}

/* ---- what came of it ---- */

static void print_side(struct text *out, enum side side, const struct cost *cost)
{
    text_printf(out, "%s\"%s\":{\"requestUnits\":%.2f,\"milliseconds\":%.2f,\"ranges\":%.1f}",
                side ? "," : "", side_names[side], mean(cost, cost->charge), mean(cost, cost->us) / 1000,
                mean(cost, cost->ranges));
}

/* One kind of operation on both sides; `count` is how often it was recorded. */
static void print_operation(struct attempt *attempt, struct text *out, const char *what, double count,
                            const struct cost cost[SIDES])
{
    text_puts(out, "{\"operation\":");
    text_json(out, what, strlen(what));
    text_printf(out, ",\"recorded\":%.15g,", count);
    for (int side = 0; side < SIDES; side++) {
        print_side(out, (enum side)side, &cost[side]);
        attempt->total[side] += count * mean(&cost[side], cost[side].charge);
    }
    text_puts(out, "},");
}

static double recorded(const struct attempt *attempt, const char *operation)
{
    orrery_value found = orrery_value_member(orrery_value_member(attempt->record, "operations"), operation);

    return orrery_value_type(found) == ORRERY_OBJECT
               ? orrery_value_number(orrery_value_member(found, "count"))
               : 0;
}

static void compare_queries(struct attempt *attempt, struct text *out, struct text *left_out)
{
    orrery_value query;

    for (size_t at = 0;
         orrery_value_next(orrery_value_member(attempt->record, "queries"), &at, NULL, &query);) {
        const char *outline = orrery_value_text(orrery_value_member(query, "query"), NULL);
        struct cost cost[SIDES] = { 0 };

        if (ask(attempt, TODAY, query, &cost[TODAY]) && ask(attempt, PLANNED, query, &cost[PLANNED])) {
            print_operation(attempt, out, outline,
                            orrery_value_number(orrery_value_member(query, "executed")), cost);
        } else {
            text_puts(left_out, left_out->size ? "," : "");
            text_json(left_out, outline, strlen(outline));
        }
    }
}

static void print_sides(const struct attempt *attempt, struct text *out)
{
    for (int side = 0; side < SIDES; side++)
        text_printf(out, "\"%s\":{\"items\":%zu,\"bytes\":%.0f,\"requestUnits\":%.2f},", side_names[side],
                    attempt->items[side], attempt->bytes[side], attempt->total[side]);
}

static void compare(struct attempt *attempt, struct text *out)
{
    struct text left_out = { 0 };

    text_puts(out, "{\"container\":");
    text_json(out, text_of(&attempt->from), attempt->from.size);
    text_puts(out, ",\"operations\":[");
    print_operation(attempt, out, "create", recorded(attempt, "create") + recorded(attempt, "upsert"),
                    attempt->create);
    print_operation(attempt, out, "read", recorded(attempt, "read"), attempt->read);
    compare_queries(attempt, out, &left_out);
    out->size--; /* the comma */
    text_puts(out, "],");
    print_sides(attempt, out);
    text_printf(out, "\"notMapped\":[%s]}", text_of(&left_out));
    text_free(&left_out);
}

/* ---- as text ---- */

static void show_operation(orrery_value operation)
{
    double figures[SIDES][3];
    static const char *const names[] = { "requestUnits", "milliseconds", "ranges" };

    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < 3; i++)
            figures[side][i] = orrery_value_number(
                orrery_value_member(orrery_value_member(operation, side_names[side]), names[i]));
    printf("%8.15g x %9.2f RU %8.2f ms %4.1f ranges  ->%9.2f RU %8.2f ms %4.1f ranges  %s\n",
           orrery_value_number(orrery_value_member(operation, "recorded")), figures[TODAY][0],
           figures[TODAY][1], figures[TODAY][2], figures[PLANNED][0], figures[PLANNED][1],
           figures[PLANNED][2], orrery_value_text(orrery_value_member(operation, "operation"), NULL));
}

static void show(const char *json)
{
    orrery_json *parsed = NULL;
    orrery_value root, one;

    if (orrery_json_parse(json, ORRERY_TEXT, &parsed) != ORRERY_OK)
        return;
    root = orrery_json_root(parsed);
    printf("%s\n", orrery_value_text(orrery_value_member(root, "container"), NULL));
    for (size_t at = 0; orrery_value_next(orrery_value_member(root, "operations"), &at, NULL, &one);)
        show_operation(one);
    for (int side = 0; side < SIDES; side++) {
        one = orrery_value_member(root, side_names[side]);
        printf("%-8s %.15g items, %.15g bytes; what was recorded costs %.15g RU\n", side_names[side],
               orrery_value_number(orrery_value_member(one, "items")),
               orrery_value_number(orrery_value_member(one, "bytes")),
               orrery_value_number(orrery_value_member(one, "requestUnits")));
    }
    for (size_t at = 0; orrery_value_next(orrery_value_member(root, "notMapped"), &at, NULL, &one);)
        printf("not mapped: %s\n", orrery_value_text(one, NULL));
    orrery_json_free(parsed);
}

/* ---- the command ---- */

static void attempt_free(struct attempt *attempt)
{
    for (int side = 0; side < SIDES; side++) {
        for (size_t i = 0; i < attempt->known_count[side]; i++) {
            free(attempt->known[side][i].id);
            free(attempt->known[side][i].key);
        }
        text_free(&attempt->link[side]);
        orrery_json_free(attempt->made[side]);
    }
    for (size_t i = 0; i < EMBEDS_MAX; i++)
        orrery_free(attempt->element[i]);
    text_free(&attempt->from);
}

static orrery_value find_record(orrery_value workload, const char *link)
{
    static const orrery_value none = { 0 };
    orrery_value one;

    for (size_t at = 0; orrery_value_next(orrery_value_member(workload, "containers"), &at, NULL, &one);)
        if (orrery_value_equals(orrery_value_member(one, "container"), link))
            return one;
    return none;
}

static void tell_attempt(struct attempt *attempt, bool *first)
{
    struct text out = { 0 };

    compare(attempt, &out);
    if (attempt->cli->options->json)
        printf("%s%s", *first ? "" : ",", text_of(&out));
    else
        show(text_of(&out));
    *first = false;
    text_free(&out);
}

static void attempt_open(struct attempt *attempt, const char *name, orrery_value workload)
{
    attempt->name = name;
    text_printf(&attempt->from, "%s/colls/%s", attempt->cli->options->word[0], name);
    attempt->record = find_record(workload, text_of(&attempt->from));
}

/* A container whose items are embedded in others: as it is today, and what its work is in their owners. */
static bool try_embedded(const struct attempt *owner, size_t e, const char *scratch, orrery_value workload,
                         bool *first)
{
    const struct embed *embed = &owner->embeds.embed[e];
    struct attempt attempt = { .cli = owner->cli,
                               .plan = orrery_value_element(orrery_value_member(owner->plan, "embed"), e),
                               .owner = owner,
                               .member = embed->member,
                               .element_of_it = owner->element[e],
                               .is_single = embed->single };
    orrery_response *response = NULL;
    bool good;

    attempt_open(&attempt, embed->from, workload);
    good = worked(attempt.cli, orrery_read(attempt.cli->client, text_of(&attempt.from), NULL, &response)) &&
           make_copy(&attempt, scratch, TODAY, orrery_response_json(response)) && fill(&attempt, TODAY);
    for (int side = 0; good && side < SIDES; side++)
        good = read_items(&attempt, (enum side)side);
    if (good && add_elements(&attempt))
        tell_attempt(&attempt, first);
    else if (good)
        tell("%s: no item of the plan has a place for its items: what they cost there is not seen",
             text_of(&attempt.from));
    orrery_response_free(response);
    attempt_free(&attempt);
    return good;
}

static bool try_container(const struct cli *cli, const char *scratch, orrery_value plan,
                          orrery_value workload, bool *first)
{
    struct attempt attempt = { .cli = cli, .plan = plan };
    bool good = embeds_read(&attempt.embeds, plan);

    attempt_open(&attempt, orrery_value_text(orrery_value_member(plan, "id"), NULL), workload);
    good = good && make_copies(&attempt, scratch);
    for (int side = 0; good && side < SIDES; side++)
        good = (side == PLANNED && attempt.embeds.count ? fill_with_parts(&attempt)
                                                        : fill(&attempt, (enum side)side)) &&
               read_items(&attempt, (enum side)side);
    if (good)
        tell_attempt(&attempt, first);
    for (size_t i = 0; good && i < attempt.embeds.count; i++)
        if (strcmp(attempt.embeds.embed[i].from, attempt.name) != 0)
            good = try_embedded(&attempt, i, scratch, workload, first);
    attempt_free(&attempt);
    return good;
}

static bool try_all(const struct cli *cli, orrery_value plan, orrery_value workload)
{
    struct text scratch = { 0 }, link = { 0 };
    orrery_value one;
    bool good, first = true;

    text_printf(&scratch, "%s-try-%ld", strrchr(cli->options->word[0], '/') + 1, (long)getpid());
    good = worked(cli, orrery_database_create(cli->client, text_of(&scratch), NULL, NULL));
    if (cli->options->json && good)
        printf("{\"containers\":[");
    for (size_t at = 0; good && orrery_value_next(orrery_value_member(plan, "containers"), &at, NULL, &one);)
        good = try_container(cli, text_of(&scratch), one, workload, &first);
    if (cli->options->json && good)
        printf("]}\n");
    text_printf(&link, "dbs/%s", text_of(&scratch));
    orrery_delete(cli->client, text_of(&link), NULL, NULL);
    text_free(&scratch);
    text_free(&link);
    return good;
}

int try_command(const struct options *options)
{
    static const char wish[] = "{\"examples\":true}";
    orrery_json *plan = plan_read(options->try);
    orrery_response *workload = NULL;
    struct cli cli;
    bool good;

    if (!plan || !cli_open(&cli, options)) {
        orrery_json_free(plan);
        return 2;
    }
    good = worked(&cli, orrery_create(cli.client, "_orrery/workload", wish, ORRERY_TEXT, NULL, &workload)) &&
           try_all(&cli, orrery_json_root(plan), orrery_response_json(workload));
    orrery_response_free(workload);
    orrery_json_free(plan);
    cli_close(&cli);
    return good ? 0 : 1;
}
