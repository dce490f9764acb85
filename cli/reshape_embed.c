/*
 * cli/reshape_embed.c - wholes: owners with what is embedded in them, kept in a container of their own while the new one is made.
 * Every source has its own order of changes, and no order is common to them. A change therefore goes to its place in a whole, which
 * no other item has, and what the whole makes is then written anew. So a part that comes before its owner waits for it, and one that moves
 * to another owner leaves the first.
 *
 * A whole also has the identities of all that was ever written for it and may still be there. They are put down before it is written, and
 * forgotten when it is removed: a run that was ended in between leaves nothing behind.
 */
#include <stdlib.h>
#include <string.h>

#include "reshape_private.h"

enum { WHOLES_AT_A_TIME = 50, IMAGES_AT_A_TIME = 200 };

#define WHOLE_ID "1" /* each is alone under its key */

/* ---- as they are kept ---- */

static void print_whole(const struct whole *whole, const char *made, struct text *out)
{
    text_empty(out);
    text_puts(out, "{\"id\":\"" WHOLE_ID "\",\"owner\":");
    text_json(out, whole->name, strlen(whole->name));
    text_printf(out, ",\"item\":%s,\"parts\":{", whole->owner ? whole->owner : "null");
    for (size_t i = 0; i < whole->count; i++) {
        text_puts(out, i ? "," : "");
        text_json(out, whole->part[i].name, strlen(whole->part[i].name));
        text_printf(out, ":%s", whole->part[i].text);
    }
    text_printf(out, "},\"count\":%zu,\"made\":%s}", whole->count, made ? made : "[]");
}

static void set_printed(char **text, orrery_value value)
{
    char *printed = NULL;

    whole_set(text, orrery_value_print(value, &printed, NULL) == ORRERY_OK ? printed : NULL);
    orrery_free(printed);
}

static void read_whole(struct wholes *wholes, orrery_value kept)
{
    struct whole *whole = wholes_get(wholes, orrery_value_text(orrery_value_member(kept, "owner"), NULL));
    orrery_value item = orrery_value_member(kept, "item"), part;
    struct text text = { 0 };
    const char *name;

    if (orrery_value_type(item) == ORRERY_OBJECT)
        set_printed(&whole->owner, item);
    for (size_t at = 0; orrery_value_next(orrery_value_member(kept, "parts"), &at, &name, &part);) {
        text_empty(&text);
        plan_print_level(&text, part);
        whole_set_part(whole, name, text_of(&text));
    }
    set_printed(&whole->made, orrery_value_member(kept, "made"));
    print_whole(whole, whole->made, &text);
    whole_set(&whole->kept, text_of(&text));
    text_free(&text);
}

/* What is kept of those that were touched. */
static bool load(struct reshape *reshape, struct wholes *wholes)
{
    orrery_status status = ORRERY_OK;

    for (size_t from = 0; !orrery_failed(status) && from < wholes->count; from += WHOLES_AT_A_TIME) {
        orrery_identity identity[WHOLES_AT_A_TIME];
        orrery_response *response = NULL;
        orrery_value kept;
        size_t count = 0;

        for (; count < WHOLES_AT_A_TIME && from + count < wholes->count; count++)
            identity[count] =
                (orrery_identity){ WHOLE_ID, orrery_key_text(wholes->whole[from + count]->name) };
        status = orrery_read_many(reshape->cli->client, text_of(&reshape->parts), identity, count, NULL,
                                  &response);
        for (size_t at = 0;
             !orrery_failed(status) &&
             orrery_value_next(orrery_value_member(orrery_response_json(response), "Documents"), &at, NULL,
                               &kept);)
            read_whole(wholes, kept);
        orrery_response_free(response);
    }
    if (orrery_failed(status))
        cli_tell(reshape->cli, status, NULL);
    return !orrery_failed(status);
}

/* ---- what they make ---- */

/* The rows of all that have an owner. An action's image is the place of its whole among them. */
static bool make_rows(struct reshape *reshape, const struct wholes *wholes, struct actions *rows)
{
    struct images images = { .image = must_alloc((wholes->count + 1) * sizeof(orrery_value)),
                             .removes = must_alloc(wholes->count + 1) };
    size_t *of = must_alloc((wholes->count + 1) * sizeof(*of));
    struct text item = { 0 };
    bool good = true;

    for (size_t i = 0; good && i < wholes->count; i++) {
        if (!wholes->whole[i]->owner)
            continue;
        good = embed_join(&reshape->embeds, wholes->whole[i], &item);
        of[images.count] = i;
        images.image[images.count++] = good ? actions_parse(rows, text_of(&item)) : (orrery_value){ 0 };
    }
    good = good && rows_map(reshape, &images, rows);
    for (size_t i = 0; good && i < rows->count; i++)
        rows->action[i].image = of[rows->action[i].image];
    text_free(&item);
    free(of);
    free(images.image);
    free(images.removes);
    return good;
}

/* The identities of each one's rows, as a JSON array. */
static struct text *list_made(const struct reshape *reshape, const struct wholes *wholes,
                              const struct actions *rows)
{
    struct text *made = must_alloc((wholes->count + 1) * sizeof(*made)), identity = { 0 };

    for (size_t i = 0; i < rows->count; i++) {
        struct text *list = &made[rows->action[i].image];

        plan_identify(&identity, reshape->key, rows->action[i].row);
        text_printf(list, "%s%s", list->size ? "," : "[", text_of(&identity));
    }
    for (size_t i = 0; i < wholes->count; i++)
        text_puts(&made[i], made[i].size ? "]" : "[]");
    text_free(&identity);
    return made;
}

static bool is_nothing(const struct whole *whole)
{
    return !whole->owner && whole->count == 0;
}

/* What was made before, and what is made now. */
static void join_made(const struct whole *whole, const struct text *now, struct text *both)
{
    text_empty(both);
    if (!whole->made || strcmp(whole->made, "[]") == 0 || strcmp(whole->made, text_of(now)) == 0) {
        text_puts(both, text_of(now));
        return;
    }
    text_puts(both, whole->made);
    if (strcmp(text_of(now), "[]") == 0)
        return;
    both->size--; /* the bracket */
    text_printf(both, ",%s", text_of(now) + 1);
}

/* Before rows are written: the wholes, with all that may be there of them. */
static void list_before(const struct wholes *wholes, const struct text *made, struct actions *actions)
{
    struct text both = { 0 }, text = { 0 };

    for (size_t i = 0; i < wholes->count; i++) {
        const struct whole *whole = wholes->whole[i];

        join_made(whole, &made[i], &both);
        print_whole(whole, text_of(&both), &text);
        if (!is_nothing(whole) && !(whole->kept && strcmp(whole->kept, text_of(&text)) == 0))
            actions_add(actions, actions_parse(actions, text_of(&text)), false);
    }
    text_free(&both);
    text_free(&text);
}

/* Behind them: without what is no more there. */
static void list_after(const struct wholes *wholes, const struct text *made, struct actions *actions)
{
    struct text both = { 0 }, text = { 0 };

    for (size_t i = 0; i < wholes->count; i++) {
        const struct whole *whole = wholes->whole[i];

        text_empty(&text);
        join_made(whole, &made[i], &both);
        if (is_nothing(whole) && whole->kept) {
            text_puts(&text, "[\"" WHOLE_ID "\",");
            text_json(&text, whole->name, strlen(whole->name));
            text_byte(&text, ']');
        } else if (!is_nothing(whole) && strcmp(text_of(&both), text_of(&made[i])) != 0) {
            print_whole(whole, text_of(&made[i]), &text);
        }
        if (text.size)
            actions_add(actions, actions_parse(actions, text_of(&text)), is_nothing(whole));
    }
    text_free(&both);
    text_free(&text);
}

/* What was made before is removed, but for what is made now: an item may have gone from one whole to another. */
static void list_rows(const struct wholes *wholes, const struct actions *rows, struct actions *actions)
{
    orrery_value identity;

    for (size_t i = 0; i < wholes->count; i++) {
        const char *made = wholes->whole[i]->made;
        orrery_value list = actions_parse(actions, made ? made : "[]");

        for (size_t at = 0; orrery_value_next(list, &at, NULL, &identity);)
            actions_add(actions, identity, true);
    }
    for (size_t i = 0; i < rows->count; i++)
        actions_add(actions, rows->action[i].row, false);
}

static bool write_rows(struct reshape *reshape, const struct wholes *wholes, struct actions *rows)
{
    struct target kept = { .link = text_of(&reshape->parts), .key = actions_parse(rows, "[\"/owner\"]") };
    struct actions before = { 0 }, change = { 0 }, after = { 0 };
    struct text *made = list_made(reshape, wholes, rows);
    int64_t removed;
    bool good;

    list_before(wholes, made, &before);
    list_rows(wholes, rows, &change);
    list_after(wholes, made, &after);
    removed = (int64_t)change.count - (int64_t)rows->count;
    good = rows_write(reshape, &kept, &before) &&
           rows_write_new(reshape, (int64_t)rows->count - removed, false, &change) &&
           rows_write(reshape, &kept, &after);
    for (size_t i = 0; i < wholes->count; i++)
        text_free(&made[i]);
    free(made);
    actions_free(&before);
    actions_free(&change);
    actions_free(&after);
    return good;
}

bool embedded_take_over(struct reshape *reshape, size_t source, const struct images *images)
{
    struct wholes wholes = { 0 };
    struct actions rows = { 0 };
    uint64_t parts = 0;
    bool good;

    embed_touch(&reshape->embeds, reshape->source, source, images, &wholes);
    good = load(reshape, &wholes) &&
           embed_apply(reshape->cli, &reshape->embeds, reshape->source, source, images, &wholes, &parts) &&
           make_rows(reshape, &wholes, &rows) && write_rows(reshape, &wholes, &rows);
    actions_free(&rows);
    wholes_free(&wholes);
    return good;
}

/* ---- compared ---- */

struct counts {
    uint64_t owners, parts, differences;
};

/* Items of a source that were asked for, some at a time. */
struct some {
    struct reshape *reshape;
    size_t source;
    struct counts *counts;
    orrery_json *json[IMAGES_AT_A_TIME];
    orrery_value image[IMAGES_AT_A_TIME];
    size_t count;
};

/* They are in their places already: to put them there changes nothing. */
static bool compare_some(struct some *some)
{
    struct reshape *reshape = some->reshape;
    struct counts *counts = some->counts;
    size_t source = some->source;
    bool removes[IMAGES_AT_A_TIME] = { 0 };
    struct images images = { some->image, removes, some->count, NULL };
    struct wholes wholes = { 0 };
    struct text text = { 0 };
    bool good;

    embed_touch(&reshape->embeds, reshape->source, source, &images, &wholes);
    good = load(reshape, &wholes) && embed_apply(reshape->cli, &reshape->embeds, reshape->source, source,
                                                 &images, &wholes, &counts->parts);
    for (size_t i = 0; good && i < wholes.count; i++) {
        const struct whole *whole = wholes.whole[i];

        print_whole(whole, whole->made, &text);
        if (is_nothing(whole) || (whole->kept && strcmp(whole->kept, text_of(&text)) == 0))
            continue;
        if (counts->differences++ == 0)
            tell("%s: what belongs to %s is another one", text_of(&reshape->source[source].link),
                 whole->name);
    }
    counts->owners += source == 0 ? some->count : 0;
    for (size_t i = 0; i < some->count; i++)
        orrery_json_free(some->json[i]);
    some->count = 0;
    text_free(&text);
    wholes_free(&wholes);
    return good;
}

static bool take_item(void *context, const char *row, size_t size)
{
    struct some *some = context;

    if (orrery_json_parse(row, size, &some->json[some->count]) != ORRERY_OK)
        return false;
    some->image[some->count] = orrery_json_root(some->json[some->count]);
    some->count++;
    return some->count < IMAGES_AT_A_TIME || compare_some(some);
}

static bool compare_source(struct reshape *reshape, size_t source, struct counts *counts)
{
    struct some *some = must_alloc(sizeof(*some));
    bool good;

    some->reshape = reshape;
    some->source = source;
    some->counts = counts;
    good = rows_as_of(reshape, source, "SELECT * FROM c", take_item, some);
    good = compare_some(some) && good;
    free(some);
    return good;
}

/* A figure over all wholes. */
static bool ask_number(struct reshape *reshape, const char *sql, uint64_t *number)
{
    orrery_query *query = NULL;
    orrery_status status =
        orrery_query_open(reshape->cli->client, text_of(&reshape->parts), sql, NULL, 0, NULL, NULL, &query);

    if (!orrery_failed(status))
        status = orrery_query_step(query);
    *number = status == ORRERY_ROW ? (uint64_t)orrery_value_int(orrery_query_value(query)) : 0;
    if (orrery_failed(status))
        cli_tell(reshape->cli, status, sql);
    orrery_query_close(query);
    return !orrery_failed(status);
}

bool embedded_verify(struct reshape *reshape)
{
    struct counts counts = { 0 };
    uint64_t owners = 0, parts = 0, orphans = 0;
    bool good = true;

    for (size_t i = 0; good && i < reshape->source_count; i++)
        good = compare_source(reshape, i, &counts);
    good = good && ask_number(reshape, "SELECT VALUE COUNT(1) FROM c WHERE NOT IS_NULL(c.item)", &owners) &&
           ask_number(reshape, "SELECT VALUE SUM(c.count) FROM c", &parts) &&
           ask_number(reshape, "SELECT VALUE SUM(c.count) FROM c WHERE IS_NULL(c.item)", &orphans);
    if (good && (counts.differences || owners != counts.owners || parts != counts.parts)) {
        tell("%llu owners and %llu parts are to be %llu and %llu, and %llu differ: it does not take the old "
             "one's place",
             (unsigned long long)counts.owners, (unsigned long long)counts.parts, (unsigned long long)owners,
             (unsigned long long)parts, (unsigned long long)counts.differences);
        good = false;
    }
    if (good && orphans && !reshape->embeds.leaves_orphans) {
        tell("%llu items have no owner, and would be nowhere: give them one, or say \"orphans\":\"leave\" in "
             "the plan",
             (unsigned long long)orphans);
        good = false;
    }
    return good;
}

static bool give_rows(struct reshape *reshape, struct wholes *wholes,
                      bool (*take)(void *context, const char *row, size_t size), void *context)
{
    struct actions rows = { 0 };
    bool good = make_rows(reshape, wholes, &rows);

    for (size_t i = 0; good && i < rows.count; i++) {
        char *text = NULL;
        size_t size;

        good = orrery_value_print(rows.action[i].row, &text, &size) == ORRERY_OK && take(context, text, size);
        orrery_free(text);
    }
    actions_free(&rows);
    wholes_free(wholes);
    return good;
}

bool embedded_rows(struct reshape *reshape, bool (*take)(void *context, const char *row, size_t size),
                   void *context)
{
    struct wholes wholes = { 0 };
    orrery_query *list = NULL;
    orrery_status status =
        orrery_list_open(reshape->cli->client, text_of(&reshape->parts), NULL, NULL, &list);
    bool good = true;

    while (good && !orrery_failed(status) && (status = orrery_query_step(list)) == ORRERY_ROW) {
        read_whole(&wholes, orrery_query_value(list));
        if (wholes.count == WHOLES_AT_A_TIME)
            good = give_rows(reshape, &wholes, take, context);
    }
    if (orrery_failed(status))
        cli_tell(reshape->cli, status, NULL);
    good = give_rows(reshape, &wholes, take, context) && good && !orrery_failed(status);
    orrery_query_close(list);
    return good;
}
