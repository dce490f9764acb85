/* cli/reshape_rows.c - what changes of the old container make of the new one: rows by the plan's query, written in bulk. */
#include <stdlib.h>
#include <string.h>

#include "mapping.h"
#include "members.h"
#include "reshape_private.h"

enum { ACTIONS_AT_A_TIME = 500, LOST_MAX = 5 };

/* ---- lists of actions ---- */

void actions_free(struct actions *actions)
{
    for (size_t i = 0; i < actions->answer_count; i++)
        orrery_response_free(actions->answer[i]);
    for (size_t i = 0; i < actions->json_count; i++)
        orrery_json_free(actions->json[i]);
    free(actions->answer);
    free(actions->json);
    free(actions->action);
    *actions = (struct actions){ 0 };
}

void actions_add(struct actions *actions, orrery_value row, bool removes)
{
    if (actions->count == actions->room) {
        actions->room = actions->room ? actions->room * 2 : 64;
        actions->action = must_resize(actions->action, actions->room * sizeof(*actions->action));
    }
    actions->action[actions->count++] = (struct action){ .row = row, .removes = removes };
}

orrery_value actions_parse(struct actions *actions, const char *text)
{
    orrery_json *json = NULL;

    if (orrery_json_parse(text, ORRERY_TEXT, &json) != ORRERY_OK)
        return (orrery_value){ 0 };
    actions->json = must_resize(actions->json, (actions->json_count + 1) * sizeof(orrery_json *));
    actions->json[actions->json_count++] = json;
    return orrery_json_root(json);
}

void actions_keep(struct actions *actions, orrery_response *answer)
{
    actions->answer = must_resize(actions->answer, (actions->answer_count + 1) * sizeof(orrery_response *));
    actions->answer[actions->answer_count++] = answer;
}

void pages_add(struct pages *pages, orrery_response *page)
{
    pages->page = must_resize(pages->page, (pages->count + 1) * sizeof(orrery_response *));
    pages->page[pages->count++] = page;
}

void pages_free(struct pages *pages)
{
    for (size_t i = 0; i < pages->count; i++)
        orrery_response_free(pages->page[i]);
    free(pages->page);
    *pages = (struct pages){ 0 };
}

/* ---- names that were seen ---- */

struct seen {
    char **name;
    size_t *by;  /* whom each was seen first */
    size_t room; /* more than there are names */
};

static struct seen seen_new(size_t names)
{
    size_t room = 2 * names + 1;

    return (struct seen){ must_alloc(room * sizeof(char *)), must_alloc(room * sizeof(size_t)), room };
}

/* By whom it was seen first: by this one, if nobody did. */
static size_t seen_by(struct seen *seen, const struct text *name, size_t by)
{
    size_t at = text_hash(text_of(name)) % seen->room;

    while (seen->name[at] && strcmp(seen->name[at], text_of(name)) != 0)
        at = (at + 1) % seen->room;
    if (!seen->name[at]) {
        seen->name[at] = must_copy(text_of(name), name->size);
        seen->by[at] = by;
    }
    return seen->by[at];
}

static void seen_free(struct seen *seen)
{
    for (size_t i = 0; i < seen->room; i++)
        free(seen->name[i]);
    free(seen->name);
    free(seen->by);
}

/* ---- images: what items were, and what they are ---- */

static orrery_value changes_of(const struct pages *pages, size_t page)
{
    return orrery_value_member(orrery_response_json(pages->page[page]), "Documents");
}

static void add_image(struct images *images, orrery_value image, bool removes)
{
    images->image[images->count] = image;
    images->removes[images->count++] = removes;
}

/* Of a creation there is nothing that the item was. */
static bool has_previous(orrery_value change)
{
    return orrery_value_count(orrery_value_member(change, "previous")) > 0;
}

static void list_removed(orrery_value key, const struct pages *pages, size_t changes, struct images *images)
{
    struct seen seen = seen_new(changes);
    struct text name = { 0 };
    orrery_value change;
    size_t number = 0;

    for (size_t i = 0; i < pages->count; i++)
        for (size_t at = 0; orrery_value_next(changes_of(pages, i), &at, NULL, &change); number++) {
            bool was_there = has_previous(change);
            orrery_value item = orrery_value_member(change, was_there ? "previous" : "current");

            plan_identify(&name, key, item);
            images->begins[images->count] = seen_by(&seen, &name, number) == number;
            if (was_there)
                add_image(images, item, true);
        }
    seen_free(&seen);
    text_free(&name);
}

/* From the last change on: an item is what its last change has left, which may be nothing. */
static void list_written(orrery_value key, enum feed feed, const struct pages *pages, size_t changes,
                         struct images *images)
{
    struct seen seen = seen_new(changes);
    struct text name = { 0 };
    size_t number = 0;

    for (size_t i = pages->count; i-- > 0;)
        for (size_t at = orrery_value_count(changes_of(pages, i)); at-- > 0; number++) {
            orrery_value change = orrery_value_element(changes_of(pages, i), at);
            orrery_value item = feed == FEED_ALL ? orrery_value_member(change, "current") : change;
            bool is_there = orrery_value_count(item) > 0; /* {}: it was deleted */

            plan_identify(&name, key, is_there ? item : orrery_value_member(change, "previous"));
            if (seen_by(&seen, &name, number) == number && is_there)
                add_image(images, item, false);
        }
    seen_free(&seen);
    text_free(&name);
}

/*
 * All that items were is removed before what they are is written. Changes of several buckets have no one order: what one item
 * makes may be what another one, of another bucket, has made before it was deleted.
 */
static void list_images(orrery_value key, enum feed feed, const struct pages *pages, struct images *images)
{
    size_t changes = 0;

    for (size_t i = 0; i < pages->count; i++)
        changes += orrery_value_count(changes_of(pages, i));
    *images = (struct images){ .image = must_alloc((2 * changes + 1) * sizeof(*images->image)),
                               .removes = must_alloc((2 * changes + 1) * sizeof(*images->removes)),
                               .begins = must_alloc((2 * changes + 1) * sizeof(*images->begins)) };
    if (feed == FEED_ALL)
        list_removed(key, pages, changes, images);
    list_written(key, feed, pages, changes, images);
}

static void images_free(struct images *images)
{
    free(images->image);
    free(images->removes);
    free(images->begins);
}

static void add_of_image(struct actions *actions, orrery_value row, const struct images *images, size_t image)
{
    actions_add(actions, row, images->removes[image]);
    actions->action[actions->count - 1].image = image;
}

/* The rows that the plan's query makes of some images. */
static bool map_some(struct reshape *reshape, const struct images *images, size_t from, size_t count,
                     struct actions *actions)
{
    orrery_response *answer =
        mapping_run(reshape->cli, text_of(&reshape->from), reshape->mapping, images->image + from, count);
    orrery_value rows, row;

    if (!answer)
        return false;
    actions_keep(actions, answer);
    rows = orrery_value_member(orrery_response_json(answer), "rows");
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; orrery_value_next(orrery_value_element(rows, i), &at, NULL, &row);)
            add_of_image(actions, row, images, from + i);
    return true;
}

bool rows_map(struct reshape *reshape, const struct images *images, struct actions *actions)
{
    bool good = true;

    for (size_t from = 0; good && from < images->count; from += MAPPING_AT_A_TIME) {
        size_t left = images->count - from, count = left < MAPPING_AT_A_TIME ? left : MAPPING_AT_A_TIME;

        if (reshape->mapping)
            good = map_some(reshape, images, from, count, actions);
        for (size_t i = from; !reshape->mapping && i < from + count; i++)
            add_of_image(actions, images->image[i], images, i);
    }
    return good;
}

/* ---- one action for each item ---- */

/* A level of the partition key. Of an identity it lies behind the id, and {} stands for nothing. */
static orrery_value level_of(orrery_value paths, orrery_value row, size_t level)
{
    orrery_value value;

    if (orrery_value_type(row) != ORRERY_ARRAY)
        return plan_value_at(row, orrery_value_text(orrery_value_element(paths, level), NULL));
    value = orrery_value_element(row, 1 + level);
    return orrery_value_type(value) == ORRERY_OBJECT ? (orrery_value){ 0 } : value;
}

static orrery_value id_of(orrery_value row)
{
    return orrery_value_type(row) == ORRERY_ARRAY ? orrery_value_element(row, 0)
                                                  : orrery_value_member(row, "id");
}

bool row_key(orrery_value paths, orrery_value row, struct key *key)
{
    size_t count = orrery_value_count(paths);

    *key = (struct key){ 0 };
    for (size_t i = 0; i < count && i < sizeof(key->level) / sizeof(key->level[0]); i++)
        if (!key_level(&key->level[i], level_of(paths, row, i)))
            return false;
    key->key = count == 1 ? key->level[0] : orrery_key_list(key->level, count);
    return true;
}

/* What two rows of one item have in common: its id and its partition key, as a text. */
static void identify(orrery_value paths, orrery_value row, struct text *out)
{
    if (orrery_value_type(row) != ORRERY_ARRAY) {
        plan_identify(out, paths, row);
    } else {
        text_empty(out);
        plan_print_level(out, row);
    }
}

/* The last action of each item is left to do, and all know it. */
static void leave_last(const struct target *target, struct actions *actions)
{
    struct seen seen = seen_new(actions->count);
    struct text name = { 0 };

    for (size_t i = actions->count; i-- > 0;) {
        struct action *action = &actions->action[i];

        identify(target->key, action->row, &name);
        action->last = seen_by(&seen, &name, i);
        action->is_done = action->last != i;
    }
    seen_free(&seen);
    text_free(&name);
}

/* ---- writing ---- */

static bool tell_bad_row(const char *what, orrery_value row)
{
    char *text = NULL;

    if (orrery_value_print(row, &text, NULL) == ORRERY_OK)
        tell("%s: %.200s", what, text);
    orrery_free(text);
    return false;
}

static bool add_to_batch(const struct target *target, const struct action *action, orrery_batch *batch)
{
    orrery_value id = id_of(action->row);
    struct text body = { 0 };
    char *text = NULL;
    struct key key;
    size_t size;

    if (orrery_value_type(id) != ORRERY_STRING)
        return tell_bad_row("a row of the plan's query has no id", action->row);
    if (!row_key(target->key, action->row, &key))
        return tell_bad_row("a row of the plan's query has no partition key", action->row);
    if (action->removes) {
        orrery_batch_delete(batch, orrery_value_text(id, NULL), NULL, &key.key);
    } else if (orrery_value_print(action->row, &text, &size) == ORRERY_OK) {
        members_without_system(&body, text, size);
        orrery_batch_upsert(batch, text_of(&body), body.size, &key.key);
    }
    orrery_free(text);
    text_free(&body);
    return true;
}

/* Whether there is one item more, or one less. */
static int gained(const struct action *action, const orrery_result *result)
{
    enum { CREATED = 201 };

    return action->removes ? -1 : result->http == CREATED;
}

/* What was held back or lost is to be sent again. False: it was refused, which is told. */
static bool settle(struct action *action, const orrery_result *result, int *gain, bool *lost)
{
    *gain = 0;
    switch (result->status) {
    case ORRERY_ETHROTTLED:
    case ORRERY_ERETRY:
        return true;
    case ORRERY_EIO:
    case ORRERY_ETIMEOUT:
    case ORRERY_ESERVER:
        *lost = true;
        return true;
    case ORRERY_ENOTFOUND:
        action->is_done = action->removes;
        break;
    default:
        action->is_done = !orrery_failed(result->status);
        *gain = action->is_done ? gained(action, result) : 0;
    }
    if (action->is_done)
        return true;
    tell("the new container refuses an item (%d): %s", result->http,
         orrery_value_text(orrery_value_member(result->body, "message"), NULL));
    return tell_bad_row("it is", action->row);
}

/* Sends what is left of so many actions, once. */
static bool send_some(const struct reshape *reshape, struct target *target, struct action *action,
                      size_t count, size_t *left, bool *lost)
{
    orrery_options options = { .size = sizeof(options), .minimal = 1 };
    orrery_response *answer = NULL;
    orrery_batch *batch = NULL;
    orrery_status status = orrery_batch_new(&batch);
    bool good = status == ORRERY_OK;
    size_t sent = 0;

    *left = 0;
    for (size_t i = 0; good && i < count; i++) {
        sent += !action[i].is_done;
        good = action[i].is_done || add_to_batch(target, &action[i], batch);
    }
    if (good && sent)
        status = orrery_bulk_run(reshape->cli->client, target->link, batch, &options, &answer);
    if (good && sent && !answer) {
        cli_tell(reshape->cli, status, NULL);
        good = false;
    }
    for (size_t i = 0, at = 0; good && answer && i < count; i++) {
        orrery_result result = { .size = sizeof(result) };
        int gain = 0;

        if (action[i].is_done)
            continue;
        good = orrery_batch_result(answer, at++, &result) == ORRERY_OK &&
               settle(&action[i], &result, &gain, lost);
        *left += !action[i].is_done;
        target->gained += gain;
    }
    target->is_doubtful |= *lost;
    orrery_response_free(answer);
    orrery_batch_free(batch);
    return good;
}

bool rows_write(const struct reshape *reshape, struct target *target, struct actions *actions)
{
    bool good;

    leave_last(target, actions);
    good = !target->is_others_too || others_spare(reshape, target, actions);
    for (size_t from = 0; good && from < actions->count; from += ACTIONS_AT_A_TIME) {
        size_t count = actions->count - from, left = 1;

        count = count < ACTIONS_AT_A_TIME ? count : ACTIONS_AT_A_TIME;
        for (int losses = 0; good && left && losses < LOST_MAX;) {
            bool lost = false;

            good = send_some(reshape, target, actions->action + from, count, &left, &lost);
            losses += lost;
        }
        if (good && left) {
            tell("the server cannot be reached: run the command again to go on");
            good = false;
        }
    }
    return good;
}

bool rows_write_new(struct reshape *reshape, int64_t more, bool is_others_too, struct actions *actions)
{
    struct target new = { .link = text_of(&reshape->to),
                          .key = reshape->key,
                          .is_others_too = is_others_too };
    bool good = rows_write(reshape, &new, actions);

    reshape->balance.wanted += more;
    reshape->balance.there += new.gained;
    reshape->balance.is_doubtful |= new.is_doubtful;
    return good;
}

/* How many items more there are to be: those that are made at the end, less those that were made before all changes. */
static int64_t more_rows(const struct images *images, const struct actions *actions)
{
    int64_t more = 0;

    for (size_t i = 0; i < actions->count; i++) {
        const struct action *action = &actions->action[i];

        more += !action->removes ? 1 : images->begins[action->image] ? -1 : 0;
    }
    return more;
}

static bool take_over_rows(struct reshape *reshape, const struct images *images)
{
    struct actions actions = { 0 };
    bool good = rows_map(reshape, images, &actions) &&
                rows_write_new(reshape, more_rows(images, &actions), true, &actions);

    actions_free(&actions);
    return good;
}

bool rows_take_over(struct reshape *reshape, size_t source, enum feed feed, const struct pages *pages)
{
    struct images images;
    bool good;

    list_images(reshape->source[source].key, feed, pages, &images);
    good = reshape->embeds.count ? embedded_take_over(reshape, source, &images)
                                 : take_over_rows(reshape, &images);
    images_free(&images);
    return good;
}
