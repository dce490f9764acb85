/* cli/reshape_state.c - how far a reshaping came, as an item of the container orrery-reshape. */
#include <string.h>

#include "reshape_private.h"

static const char *const phases[PHASES] = { "begin", "copy", "follow", "done" };

static const char *member_text(orrery_value value, const char *name)
{
    return orrery_value_text(orrery_value_member(value, name), NULL);
}

static void set(struct text *text, const char *value)
{
    text_empty(text);
    text_puts(text, value);
}

static bool make_states(struct reshape *reshape)
{
    static const char body[] = "{\"id\":\"" RESHAPE_STATES "\",\"partitionKey\":{\"paths\":[\"/id\"],"
                               "\"kind\":\"Hash\",\"version\":2}}";
    struct text feed = { 0 };
    orrery_status status;

    text_printf(&feed, "%s/colls", text_of(&reshape->database));
    status = orrery_create_if_missing(reshape->cli->client, text_of(&feed), body, ORRERY_TEXT, NULL, NULL);
    text_free(&feed);
    if (orrery_failed(status))
        cli_tell(reshape->cli, status, NULL);
    return !orrery_failed(status);
}

static bool take_state(struct reshape *reshape, orrery_value state)
{
    char *was = NULL, *is = NULL;
    bool same = orrery_value_print(orrery_value_member(state, "plan"), &was, NULL) == ORRERY_OK &&
                orrery_value_print(reshape->plan, &is, NULL) == ORRERY_OK && strcmp(was, is) == 0;

    orrery_free(was);
    orrery_free(is);
    for (int i = 0; i < PHASES; i++)
        if (strcmp(member_text(state, "phase"), phases[i]) == 0)
            reshape->phase = (enum reshape_phase)i;
    set(&reshape->of, member_text(state, "of"));
    set(&reshape->made, member_text(state, "made"));
    set(&reshape->parts_made, member_text(state, "parts"));
    for (size_t i = 0; i < reshape->source_count; i++) {
        orrery_value place = i ? orrery_value_element(orrery_value_member(state, "embedded"), i - 1) : state;
        bool is_old = !*member_text(place, "began"); /* it was not followed while it was copied */

        feed_place(&reshape->place[i].latest, member_text(place, "latest"));
        feed_place(&reshape->place[i].began, member_text(place, is_old ? "all" : "began"));
        feed_place(&reshape->place[i].all, member_text(place, "all"));
    }
    reshape->is_kept = true;
    if (reshape->any_plan)
        return true;
    if (!same && reshape->phase == PHASE_DONE) { /* another one may begin */
        reshape->phase = PHASE_BEGIN;
        text_empty(&reshape->made);
        text_empty(&reshape->parts_made);
        return true;
    }
    if (!same)
        tell("%s is being reshaped by another plan: go on with that one, or end it with --cancel",
             text_of(&reshape->from));
    return same;
}

bool state_read(struct reshape *reshape)
{
    orrery_key key = orrery_key_text(reshape->name);
    orrery_response *response = NULL;
    orrery_status status;
    bool good = true;

    if (!make_states(reshape))
        return false;
    status = orrery_item_read(reshape->cli->client, text_of(&reshape->states), reshape->name, &key, NULL,
                              &response);
    if (status == ORRERY_OK) {
        set(&reshape->etag, orrery_response_etag(response));
        good = take_state(reshape, orrery_response_json(response));
    } else if (status != ORRERY_ENOTFOUND) {
        cli_tell(reshape->cli, status, NULL);
        good = false;
    }
    orrery_response_free(response);
    return good;
}

/* Places are numbers, points and commas. */
static void print_place(const struct place *place, struct text *out)
{
    text_printf(out, "\"latest\":\"%s\",\"began\":\"%s\",\"all\":\"%s\"", text_of(&place->latest),
                text_of(&place->began), text_of(&place->all));
}

/* Where the feeds go on: of the container, and of what is embedded. */
static void print_places(const struct reshape *reshape, struct text *out)
{
    print_place(&reshape->place[0], out);
    text_puts(out, ",\"embedded\":[");
    for (size_t i = 1; i < reshape->source_count; i++) {
        text_puts(out, i > 1 ? ",{" : "{");
        print_place(&reshape->place[i], out);
        text_byte(out, '}');
    }
    text_puts(out, "],");
}

static void print_state(const struct reshape *reshape, struct text *out)
{
    const struct {
        const char *name, *value;
    } members[] = { { "id", reshape->name },
                    { "phase", phases[reshape->phase] },
                    { "of", text_of(&reshape->of) },
                    { "made", text_of(&reshape->made) },
                    { "parts", text_of(&reshape->parts_made) } };
    char *plan = NULL;

    text_byte(out, '{');
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        text_printf(out, "\"%s\":", members[i].name);
        text_json(out, members[i].value, strlen(members[i].value));
        text_byte(out, ',');
    }
    print_places(reshape, out);
    if (orrery_value_print(reshape->plan, &plan, NULL) == ORRERY_OK)
        text_printf(out, "\"plan\":%s}", plan);
    orrery_free(plan);
}

bool state_write(struct reshape *reshape)
{
    orrery_key key = orrery_key_text(reshape->name);
    orrery_options options = { .size = sizeof(options), .if_match = text_of(&reshape->etag) };
    orrery_response *response = NULL;
    struct text body = { 0 };
    orrery_status status;

    print_state(reshape, &body);
    if (reshape->is_kept)
        status = orrery_item_replace(reshape->cli->client, text_of(&reshape->states), reshape->name,
                                     text_of(&body), body.size, &key, &options, &response);
    else
        status = orrery_item_create(reshape->cli->client, text_of(&reshape->states), text_of(&body),
                                    body.size, &key, NULL, &response);
    text_free(&body);
    if (status == ORRERY_EPRECONDITION || status == ORRERY_ECONFLICT)
        tell("another orrery reshape is at work on %s: this one ends", text_of(&reshape->from));
    else if (orrery_failed(status))
        cli_tell(reshape->cli, status, NULL);
    else
        set(&reshape->etag, orrery_response_etag(response));
    reshape->is_kept |= !orrery_failed(status);
    orrery_response_free(response);
    return !orrery_failed(status);
}

static bool has_states(const struct reshape *reshape)
{
    orrery_options options = { .size = sizeof(options), .page_items = 1 };
    orrery_query *list = NULL;
    orrery_status status =
        orrery_list_open(reshape->cli->client, text_of(&reshape->states), NULL, &options, &list);

    if (!orrery_failed(status))
        status = orrery_query_step(list);
    orrery_query_close(list);
    return status != ORRERY_DONE;
}

bool state_remove(struct reshape *reshape)
{
    orrery_key key = orrery_key_text(reshape->name);
    orrery_status status =
        orrery_item_delete(reshape->cli->client, text_of(&reshape->states), reshape->name, &key, NULL, NULL);

    if (orrery_failed(status) && status != ORRERY_ENOTFOUND) {
        cli_tell(reshape->cli, status, NULL);
        return false;
    }
    if (!has_states(reshape))
        orrery_delete(reshape->cli->client, text_of(&reshape->states), NULL, NULL);
    return true;
}
