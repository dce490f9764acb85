/*
 * cli/reshape_others.c - what the new container has of other items is not removed.
 * An item may go to another partition key by being created there before it is deleted here. If both make the same item of the new
 * container, it is the second one's already when the first one's deletion is taken over, as its content tells.
 */
#include <stdlib.h>
#include <string.h>

#include "reshape_private.h"

enum { ASKED_AT_A_TIME = 200 };

/* Removals whose items are asked for. */
struct asked {
    size_t action[ASKED_AT_A_TIME];
    struct key key[ASKED_AT_A_TIME];
    size_t count;
};

/* Answers come in the order of questions, without those that are not there. */
static void take_found(const struct target *target, const struct actions *actions, const struct asked *asked,
                       orrery_value found, orrery_value *there)
{
    struct text wanted = { 0 }, name = { 0 };
    size_t at = 0;

    for (size_t i = 0; i < asked->count; i++) {
        orrery_value item = orrery_value_element(found, at);

        plan_identify(&wanted, target->key, actions->action[asked->action[i]].row);
        plan_identify(&name, target->key, item);
        if (strcmp(text_of(&wanted), text_of(&name)) != 0)
            continue;
        there[asked->action[i]] = item;
        at++;
    }
    text_free(&wanted);
    text_free(&name);
}

static bool ask(const struct reshape *reshape, const struct target *target, struct actions *actions,
                struct asked *asked, orrery_value *there)
{
    orrery_identity identity[ASKED_AT_A_TIME];
    orrery_response *answer = NULL;
    orrery_status status = ORRERY_OK;

    for (size_t i = 0; i < asked->count; i++) {
        orrery_value row = actions->action[asked->action[i]].row;

        if (orrery_value_count(target->key) > 1)
            asked->key[i].key.items = asked->key[i].level; /* row_key() was given another place */
        identity[i] =
            (orrery_identity){ orrery_value_text(orrery_value_member(row, "id"), NULL), asked->key[i].key };
    }
    if (asked->count)
        status = orrery_read_many(reshape->cli->client, target->link, identity, asked->count, NULL, &answer);
    if (orrery_failed(status))
        cli_tell(reshape->cli, status, NULL);
    else if (asked->count)
        take_found(target, actions, asked, orrery_value_member(orrery_response_json(answer), "Documents"),
                   there);
    actions_keep(actions, answer);
    asked->count = 0;
    return !orrery_failed(status);
}

static bool is_left(const struct action *action)
{
    return action->removes && !action->is_done;
}

/* What the new container has in the places of all that are left. */
static bool look(const struct reshape *reshape, const struct target *target, struct actions *actions,
                 orrery_value *there, bool *is_own)
{
    struct asked *asked = must_alloc(sizeof(*asked));
    bool good = true;

    for (size_t i = 0; good && i < actions->count; i++) {
        orrery_value row = actions->action[i].row;

        if (!is_left(&actions->action[i]))
            continue;
        is_own[i] = orrery_value_type(orrery_value_member(row, "id")) != ORRERY_STRING ||
                    !row_key(target->key, row, &asked->key[asked->count]);
        if (is_own[i]) /* it is nobody's: whoever writes tells so */
            continue;
        asked->action[asked->count++] = i;
        if (asked->count == ASKED_AT_A_TIME)
            good = ask(reshape, target, actions, asked, there);
    }
    good = good && ask(reshape, target, actions, asked, there);
    free(asked);
    return good;
}

bool others_spare(const struct reshape *reshape, const struct target *target, struct actions *actions)
{
    orrery_value *there = must_alloc((actions->count + 1) * sizeof(*there));
    bool *is_own = must_alloc(actions->count + 1);
    bool good = look(reshape, target, actions, there, is_own);

    for (size_t i = 0; good && i < actions->count; i++) {
        const struct action *action = &actions->action[i];

        if (action->removes && orrery_value_type(there[action->last]) == ORRERY_OBJECT)
            is_own[action->last] |= rows_equal(action->row, there[action->last]);
    }
    for (size_t i = 0; good && i < actions->count; i++)
        actions->action[i].is_done |= is_left(&actions->action[i]) && !is_own[i];
    free(there);
    free(is_own);
    return good;
}
