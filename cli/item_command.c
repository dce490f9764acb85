/*
 * cli/item_command.c - cat, put, patch and rm. An item is named by its id and partition key. Where the key is left out and
 * one item of the container has the id, that one is meant.
 */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "item_command.h"
#include "link.h"
#include "statement.h"

/* What a command is about. */
struct target {
    struct text link, container; /* container: of an item only */
    char *id;                    /* of an item */
    struct key key;
    bool is_item;
    orrery_json *found; /* what the key was found in */
};

static void target_free(struct target *target)
{
    text_free(&target->link);
    text_free(&target->container);
    free(target->id);
    key_free(&target->key);
    orrery_json_free(target->found);
}

static void finish(const struct shell *shell, orrery_status status, orrery_response *response, int64_t began)
{
    const orrery_response *answer = response ? response : orrery_failed_response(shell->cli.client);
    struct took took = { .charge = answer ? orrery_response_charge(answer) : 0, .us = clock_us() - began };

    if (orrery_failed(status))
        cli_tell(&shell->cli, status, NULL);
    took_tell(&took, shell->charge, shell->timing);
    orrery_response_free(response);
}

/* ---- finding the key */

/* The values at the container's key paths, as a JSON array. */
static bool print_key(struct shell *shell, const char *container, orrery_value item, struct text *key)
{
    orrery_response *definition = NULL;
    orrery_status status = orrery_read(shell->cli.client, container, NULL, &definition);
    orrery_value paths;

    if (orrery_failed(status)) {
        cli_tell(&shell->cli, status, NULL);
        return false;
    }
    paths =
        orrery_value_member(orrery_value_member(orrery_response_json(definition), "partitionKey"), "paths");
    text_byte(key, '[');
    for (size_t i = 0; i < orrery_value_count(paths); i++) {
        const char *path = orrery_value_text(orrery_value_element(paths, i), NULL);
        orrery_value value = item;
        char *printed = NULL;

        while (*path == '/') {
            size_t size = strcspn(path + 1, "/");
            char *name = must_copy(path + 1, size);

            value = orrery_value_member(value, name);
            free(name);
            path += size + 1;
        }
        text_puts(key, i ? "," : "");
        if (orrery_value_type(value) == ORRERY_UNDEFINED ||
            orrery_value_print(value, &printed, NULL) != ORRERY_OK)
            text_puts(key, "{}"); /* which is how the protocol spells that there is none */
        else
            text_puts(key, printed);
        orrery_free(printed);
    }
    text_byte(key, ']');
    orrery_response_free(definition);
    return true;
}

/* "[{}]" is the key of items that have none. */
static bool read_found_key(struct target *target, const char *text)
{
    if (strcmp(text, "[{}]") == 0) {
        target->key.key = orrery_key_none();
        return true;
    }
    return key_read(&target->key, text);
}

static bool find_key(struct shell *shell, struct target *target)
{
    struct text id = { 0 }, key = { 0 };
    orrery_parameter parameter = { "@id", NULL };
    orrery_query *query = NULL;
    orrery_status status;
    size_t count = 0;
    bool found = false;

    text_json(&id, target->id, strlen(target->id));
    parameter.value = text_of(&id);
    status = orrery_query_open(shell->cli.client, text_of(&target->container),
                               "SELECT * FROM c WHERE c.id = @id", &parameter, 1, NULL, NULL, &query);
    while (!orrery_failed(status) && count < 2 && (status = orrery_query_step(query)) == ORRERY_ROW)
        if (count++ == 0)
            found = print_key(shell, text_of(&target->container), orrery_query_value(query), &key);
    if (orrery_failed(status))
        cli_tell(&shell->cli, status, NULL);
    else if (count == 0)
        tell("no item has the id %s", target->id);
    else if (count > 1)
        tell("several items have the id %s: name the partition key behind it", target->id);
    found = found && count == 1 && !orrery_failed(status) && read_found_key(target, text_of(&key));
    orrery_query_close(query);
    text_free(&id);
    text_free(&key);
    return found;
}

/* ID [KEY], or a link. `key` may be NULL. False: it was told why. */
static bool target_read(struct shell *shell, struct target *target, const char *word, const char *key)
{
    size_t size;
    const char *kind;

    link_resolve(text_of(&shell->here), word, &target->link);
    kind = link_part(text_of(&target->link), 4, &size);
    target->is_item = kind && size == 4 && memcmp(kind, "docs", 4) == 0;
    if (!target->is_item)
        return true;
    kind = link_part(text_of(&target->link), 5, &size);
    if (!kind) {
        tell("an item is named by its id");
        return false;
    }
    target->id = must_copy(kind, size);
    link_head(text_of(&target->link), 4, &target->container);
    if (!key)
        return find_key(shell, target);
    if (key_read(&target->key, key))
        return true;
    tell("%s is no partition key", key);
    return false;
}

/* ---- the commands */

bool command_cat(struct shell *shell, const char *rest)
{
    char *word = statement_word(&rest), *key = statement_word(&rest);
    struct target target = { 0 };
    orrery_response *response = NULL;
    orrery_status status = ORRERY_EINVAL;
    int64_t began = clock_us();
    size_t size;

    if (target_read(shell, &target, word ? word : ".", key)) {
        if (target.is_item)
            status = orrery_item_read(shell->cli.client, text_of(&target.container), target.id,
                                      &target.key.key, NULL, &response);
        else
            status = orrery_read(shell->cli.client, text_of(&target.link), NULL, &response);
        if (!orrery_failed(status)) {
            const char *body = orrery_response_body(response, &size);

            command_print(shell, body, size);
        }
        finish(shell, status, response, began);
    }
    target_free(&target);
    free(word);
    free(key);
    return !orrery_failed(status);
}

/* Databases and containers have no upsert: a container that is there gets the definition. */
static orrery_status put_definition(struct shell *shell, const char *feed, const char *body,
                                    orrery_response **response)
{
    orrery_status status = orrery_create(shell->cli.client, feed, body, ORRERY_TEXT, NULL, response);
    orrery_json *json = NULL;
    struct text link = { 0 };

    if (status != ORRERY_ECONFLICT || strcmp(feed, "dbs") == 0 ||
        orrery_json_parse(body, ORRERY_TEXT, &json) != ORRERY_OK)
        return status;
    orrery_response_free(*response);
    *response = NULL;
    text_printf(&link, "%s/%s", feed,
                orrery_value_text(orrery_value_member(orrery_json_root(json), "id"), NULL));
    status = orrery_replace(shell->cli.client, text_of(&link), body, ORRERY_TEXT, NULL, response);
    text_free(&link);
    orrery_json_free(json);
    return status;
}

static bool is_of_definitions(const char *feed)
{
    return strcmp(feed, "dbs") == 0 || (link_depth(feed) == 3 && strcmp(strrchr(feed, '/'), "/colls") == 0);
}

bool command_put(struct shell *shell, const char *rest)
{
    struct text feed = { 0 };
    orrery_response *response = NULL;
    orrery_status status;
    int64_t began = clock_us();
    char *word;

    rest += strspn(rest, " \t\n");
    if (*rest == '{') {
        if (!link_is_container(text_of(&shell->here))) {
            tell("put {...} puts an item into a container: cd dbs/x/colls/y");
            return false;
        }
        status = orrery_item_upsert(shell->cli.client, text_of(&shell->here), rest, ORRERY_TEXT, NULL, NULL,
                                    &response);
        finish(shell, status, response, began);
        return !orrery_failed(status);
    }
    word = statement_word(&rest);
    link_resolve(text_of(&shell->here), word ? word : "", &feed);
    free(word);
    rest += strspn(rest, " \t\n");
    if (link_is_container(text_of(&feed)))
        status =
            orrery_item_upsert(shell->cli.client, text_of(&feed), rest, ORRERY_TEXT, NULL, NULL, &response);
    else if (is_of_definitions(text_of(&feed)))
        status = put_definition(shell, text_of(&feed), rest, &response);
    else if (link_depth(text_of(&feed)) % 2)
        status = orrery_upsert(shell->cli.client, text_of(&feed), rest, ORRERY_TEXT, NULL, &response);
    else
        status = orrery_replace(shell->cli.client, text_of(&feed), rest, ORRERY_TEXT, NULL, &response);
    finish(shell, status, response, began);
    text_free(&feed);
    return !orrery_failed(status);
}

static void add_operation(orrery_patch *patch, orrery_value operation)
{
    const char *op = orrery_value_text(orrery_value_member(operation, "op"), NULL);
    const char *path = orrery_value_text(orrery_value_member(operation, "path"), NULL);
    const char *from = orrery_value_text(orrery_value_member(operation, "from"), NULL);
    orrery_value value = orrery_value_member(operation, "value");
    char *json = NULL;

    if (orrery_value_type(value) != ORRERY_UNDEFINED)
        orrery_value_print(value, &json, NULL);
    if (strcmp(op, "add") == 0)
        orrery_patch_add(patch, path, json);
    else if (strcmp(op, "set") == 0)
        orrery_patch_set(patch, path, json);
    else if (strcmp(op, "replace") == 0)
        orrery_patch_replace(patch, path, json);
    else if (strcmp(op, "remove") == 0)
        orrery_patch_remove(patch, path);
    else if (strcmp(op, "incr") == 0 || strcmp(op, "increment") == 0)
        orrery_patch_increment(patch, path, orrery_value_number(value));
    else if (strcmp(op, "move") == 0)
        orrery_patch_move(patch, from, path);
    else
        orrery_patch_set(patch, NULL, NULL); /* a mistake, which is told when the patch is sent */
    orrery_free(json);
}

/* [{"op":...}], or {"operations":[...],"condition":"from c where ..."} as the service has it. */
static orrery_status send_patch(struct shell *shell, const struct target *target, const char *text,
                                orrery_response **response)
{
    orrery_json *json = NULL;
    orrery_patch *patch = NULL;
    orrery_status status = orrery_json_parse(text, ORRERY_TEXT, &json);
    orrery_value root, list;

    if (status == ORRERY_OK)
        status = orrery_patch_new(&patch);
    if (status == ORRERY_OK) {
        root = orrery_json_root(json);
        list = orrery_value_type(root) == ORRERY_OBJECT ? orrery_value_member(root, "operations") : root;
        for (size_t i = 0; i < orrery_value_count(list); i++)
            add_operation(patch, orrery_value_element(list, i));
        if (orrery_value_type(orrery_value_member(root, "condition")) == ORRERY_STRING)
            orrery_patch_condition(patch, orrery_value_text(orrery_value_member(root, "condition"), NULL));
        status = orrery_item_patch(shell->cli.client, text_of(&target->container), target->id,
                                   &target->key.key, patch, NULL, response);
        if (orrery_failed(status))
            cli_tell(&shell->cli, status, NULL);
    } else {
        tell("the operations are no JSON");
    }
    orrery_patch_free(patch);
    orrery_json_free(json);
    return status;
}

/* What follows the first word or two is JSON: where it begins. */
static const char *json_of(const char *rest)
{
    rest += strspn(rest, " \t\n");
    return strstr(rest, "\"op") && (*rest == '[' || *rest == '{') ? rest : NULL;
}

bool command_patch(struct shell *shell, const char *rest)
{
    char *word = statement_word(&rest), *key = NULL;
    struct target target = { 0 };
    orrery_response *response = NULL;
    orrery_status status = ORRERY_EINVAL;
    int64_t began = clock_us();

    if (!json_of(rest))
        key = statement_word(&rest);
    if (!word || !json_of(rest)) {
        tell("usage: patch ID [KEY] [{\"op\":\"set\",\"path\":\"/a\",\"value\":1}]");
    } else if (target_read(shell, &target, word, key)) {
        if (target.is_item)
            status = send_patch(shell, &target, json_of(rest), &response);
        else
            tell("only items can be patched");
        if (!orrery_failed(status))
            finish(shell, status, response, began);
    }
    target_free(&target);
    free(word);
    free(key);
    return !orrery_failed(status);
}

bool command_rm(struct shell *shell, const char *rest)
{
    char *word = statement_word(&rest), *key = statement_word(&rest);
    struct target target = { 0 };
    orrery_response *response = NULL;
    orrery_status status = ORRERY_EINVAL;
    int64_t began = clock_us();

    if (!word) {
        tell("usage: rm ID [KEY], or rm LINK");
    } else if (target_read(shell, &target, word, key)) {
        if (target.is_item)
            status = orrery_item_delete(shell->cli.client, text_of(&target.container), target.id,
                                        &target.key.key, NULL, &response);
        else
            status = orrery_delete(shell->cli.client, text_of(&target.link), NULL, &response);
        finish(shell, status, response, began);
    }
    target_free(&target);
    free(word);
    free(key);
    return !orrery_failed(status);
}
