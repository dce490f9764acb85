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

static void keep_answer(struct actions *actions, orrery_response *answer)
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
    size_t room; /* more than there are names */
};

static struct seen seen_new(size_t names)
{
    return (struct seen){ .name = must_alloc((2 * names + 1) * sizeof(char *)), .room = 2 * names + 1 };
}

/* Whether it was seen before; from now on it was. */
static bool seen_before(struct seen *seen, const struct text *name)
{
    size_t at = text_hash(text_of(name)) % seen->room;

    while (seen->name[at] && strcmp(seen->name[at], text_of(name)) != 0)
        at = (at + 1) % seen->room;
    if (seen->name[at])
        return true;
    seen->name[at] = must_copy(text_of(name), name->size);
    return false;
}

static void seen_free(struct seen *seen)
{
    for (size_t i = 0; i < seen->room; i++)
        free(seen->name[i]);
    free(seen->name);
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

static void list_removed(const struct pages *pages, struct images *images)
{
    orrery_value change;

    for (size_t i = 0; i < pages->count; i++)
        for (size_t at = 0; orrery_value_next(changes_of(pages, i), &at, NULL, &change);) {
            orrery_value previous = orrery_value_member(change, "previous");

            if (orrery_value_count(previous))
                add_image(images, previous, true);
        }
}

/* From the last change on: an item is what its last change has left, which may be nothing. */
static void list_written(orrery_value key, enum feed feed, const struct pages *pages, struct seen *seen,
                         struct images *images)
{
    struct text name = { 0 };

    for (size_t i = pages->count; i-- > 0;)
        for (size_t at = orrery_value_count(changes_of(pages, i)); at-- > 0;) {
            orrery_value change = orrery_value_element(changes_of(pages, i), at);
            orrery_value item = feed == FEED_ALL ? orrery_value_member(change, "current") : change;
            bool is_there = orrery_value_count(item) > 0; /* {}: it was deleted */

            plan_identify(&name, key, is_there ? item : orrery_value_member(change, "previous"));
            if (!seen_before(seen, &name) && is_there)
                add_image(images, item, false);
        }
    text_free(&name);
}

/*
 * All that items were is removed before what they are is written. Changes of several buckets have no one order: what one item
 * makes may be what another one, of another bucket, has made before it was deleted.
 */
static void list_images(orrery_value key, enum feed feed, const struct pages *pages, struct images *images)
{
    size_t changes = 0;
    struct seen seen;

    for (size_t i = 0; i < pages->count; i++)
        changes += orrery_value_count(changes_of(pages, i));
    *images = (struct images){ .image = must_alloc((2 * changes + 1) * sizeof(*images->image)),
                               .removes = must_alloc((2 * changes + 1) * sizeof(*images->removes)) };
    seen = seen_new(changes);
    if (feed == FEED_ALL)
        list_removed(pages, images);
    list_written(key, feed, pages, &seen, images);
    seen_free(&seen);
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
    keep_answer(actions, answer);
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

/* The last action of each item is left to do. */
static void leave_last(const struct target *target, struct actions *actions)
{
    struct seen seen = seen_new(actions->count);
    struct text name = { 0 };

    for (size_t i = actions->count; i-- > 0;) {
        identify(target->key, actions->action[i].row, &name);
        actions->action[i].is_done = seen_before(&seen, &name);
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

/* What was held back or lost is to be sent again. False: it was refused, which is told. */
static bool settle(struct action *action, const orrery_result *result, bool *lost)
{
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
    }
    if (action->is_done)
        return true;
    tell("the new container refuses an item (%d): %s", result->http,
         orrery_value_text(orrery_value_member(result->body, "message"), NULL));
    return tell_bad_row("it is", action->row);
}

/* Sends what is left of so many actions, once. */
static bool send_some(const struct reshape *reshape, const struct target *target, struct action *action,
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

        if (action[i].is_done)
            continue;
        good = orrery_batch_result(answer, at++, &result) == ORRERY_OK && settle(&action[i], &result, lost);
        *left += !action[i].is_done;
    }
    orrery_response_free(answer);
    orrery_batch_free(batch);
    return good;
}

bool rows_write(const struct reshape *reshape, const struct target *target, struct actions *actions)
{
    bool good = true;

    leave_last(target, actions);
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

bool rows_take_over(struct reshape *reshape, size_t source, enum feed feed, const struct pages *pages)
{
    struct target target = { text_of(&reshape->to), reshape->key };
    struct actions actions = { 0 };
    struct images images;
    bool good;

    list_images(reshape->source[source].key, feed, pages, &images);
    if (reshape->embeds.count)
        good = embedded_take_over(reshape, source, &images);
    else
        good = rows_map(reshape, &images, &actions) && rows_write(reshape, &target, &actions);
    free(images.image);
    free(images.removes);
    actions_free(&actions);
    return good;
}
