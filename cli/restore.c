/* cli/restore.c - a whole database, from the lines that export.c wrote. */
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "restore.h"
#include "text.h"

struct restore {
    struct cli *cli;
    const struct options *options;
    struct load_settings settings;
    struct text database, container, user; /* links */
    struct loader *loader;                 /* of the container */
    bool ended;
};

struct restore *restore_open(struct cli *cli, const struct options *options, enum load_mode mode,
                             struct progress *progress, load_reject *reject, void *context)
{
    struct restore *restore;

    if (link_depth(options->to) != 2 || strncmp(options->to, "dbs/", 4) != 0) {
        tell("this file is a whole database: --to dbs/NAME");
        return NULL;
    }
    restore = must_alloc(sizeof(*restore));
    restore->cli = cli;
    restore->options = options;
    text_puts(&restore->database, options->to);
    restore->settings = (struct load_settings){ .cli = cli,
                                                .mode = mode,
                                                .batch = (size_t)options->batch,
                                                .in_flight = (size_t)options->in_flight,
                                                .progress = progress,
                                                .reject = reject,
                                                .context = context };
    return restore;
}

/* A container's items are all there before the next thing is made. */
static bool end_container(struct restore *restore)
{
    bool good = !restore->loader || loader_finish(restore->loader);

    if (good) {
        loader_close(restore->loader);
        restore->loader = NULL;
    }
    return good;
}

static bool worked(struct restore *restore, orrery_status status)
{
    if (!orrery_failed(status) || (status == ORRERY_ECONFLICT && restore->settings.mode == LOAD_SKIP))
        return true;
    cli_tell(restore->cli, status, NULL);
    return false;
}

static orrery_options offer_of(orrery_value line)
{
    orrery_value offer = orrery_value_member(line, "offer");

    return (orrery_options){
        .size = sizeof(orrery_options),
        .throughput = (int)orrery_value_int(orrery_value_member(offer, "throughput")),
        .throughput_max = (int)orrery_value_int(orrery_value_member(offer, "maxThroughput")),
    };
}

/* ---- lines */

static bool take_database(struct restore *restore, orrery_value line, orrery_value body)
{
    orrery_options options = offer_of(line);
    const char *id = strchr(text_of(&restore->database), '/') + 1;
    orrery_status status = orrery_database_create(restore->cli->client, id, &options, NULL);

    (void)body;
    if (status == ORRERY_ECONFLICT) /* things of other names may go into a database that is there */
        return true;
    return worked(restore, status);
}

/* Makes something of a feed, by the mode. */
static bool make(struct restore *restore, const char *feed, orrery_value body, const orrery_options *options)
{
    char *text = NULL;
    orrery_status status = orrery_value_print(body, &text, NULL);

    if (status == ORRERY_OK && restore->settings.mode == LOAD_UPSERT && !options)
        status = orrery_upsert(restore->cli->client, feed, text, ORRERY_TEXT, NULL, NULL);
    else if (status == ORRERY_OK && restore->settings.mode == LOAD_UPSERT)
        status = orrery_create_if_missing(restore->cli->client, feed, text, ORRERY_TEXT, options, NULL);
    else if (status == ORRERY_OK)
        status = orrery_create(restore->cli->client, feed, text, ORRERY_TEXT, options, NULL);
    orrery_free(text);
    return worked(restore, status);
}

static bool take_container(struct restore *restore, orrery_value line, orrery_value body)
{
    orrery_options options = offer_of(line);
    struct text feed = { 0 };
    bool good = end_container(restore);

    text_printf(&feed, "%s/colls", text_of(&restore->database));
    good = good && make(restore, text_of(&feed), body, &options);
    text_empty(&restore->container);
    text_printf(&restore->container, "%s/%s", text_of(&feed),
                orrery_value_text(orrery_value_member(body, "id"), NULL));
    text_free(&feed);
    restore->settings.link = text_of(&restore->container);
    if (good)
        restore->loader = loader_open(&restore->settings);
    return good;
}

static bool make_in(struct restore *restore, const struct text *parent, const char *kind, orrery_value body)
{
    struct text feed = { 0 };
    bool good = parent->size;

    text_printf(&feed, "%s/%s", text_of(parent), kind);
    if (!good)
        tell("%s stands before what it belongs to", kind);
    good = good && make(restore, text_of(&feed), body, NULL);
    text_free(&feed);
    return good;
}

static bool take_procedure(struct restore *restore, orrery_value line, orrery_value body)
{
    (void)line;
    return make_in(restore, &restore->container, "sprocs", body);
}

static bool take_trigger(struct restore *restore, orrery_value line, orrery_value body)
{
    (void)line;
    return make_in(restore, &restore->container, "triggers", body);
}

static bool take_function(struct restore *restore, orrery_value line, orrery_value body)
{
    (void)line;
    return make_in(restore, &restore->container, "udfs", body);
}

static bool take_user(struct restore *restore, orrery_value line, orrery_value body)
{
    bool good = end_container(restore) && make_in(restore, &restore->database, "users", body);

    (void)line;
    text_empty(&restore->user);
    text_printf(&restore->user, "%s/users/%s", text_of(&restore->database),
                orrery_value_text(orrery_value_member(body, "id"), NULL));
    return good;
}

/* Its resource is named relative to the database, which may have another name now. */
static bool take_permission(struct restore *restore, orrery_value line, orrery_value body)
{
    orrery_writer *writer = NULL;
    struct text resource = { 0 };
    orrery_json *json = NULL;
    const char *name, *text;
    orrery_value value;
    bool good;

    (void)line;
    text_printf(&resource, "%s/%s", text_of(&restore->database),
                orrery_value_text(orrery_value_member(body, "resource"), NULL));
    orrery_writer_new(&writer);
    orrery_write_object(writer);
    for (size_t at = 0; orrery_value_next(body, &at, &name, &value);) {
        orrery_write_name(writer, name);
        if (strcmp(name, "resource") == 0)
            orrery_write_string(writer, text_of(&resource), resource.size);
        else
            orrery_write_value(writer, value);
    }
    orrery_write_end(writer);
    text = orrery_writer_text(writer, NULL);
    good = text && orrery_json_parse(text, ORRERY_TEXT, &json) == ORRERY_OK &&
           make_in(restore, &restore->user, "permissions", orrery_json_root(json));
    orrery_json_free(json);
    orrery_writer_free(writer);
    text_free(&resource);
    return good;
}

static bool take_end(struct restore *restore, orrery_value line, orrery_value body)
{
    (void)line, (void)body;
    restore->ended = true;
    return true;
}

static bool take_head(struct restore *restore, orrery_value line, orrery_value version)
{
    (void)restore, (void)line;
    if (orrery_value_int(version) == 1)
        return true;
    tell("the file has version %lld, and this program knows version 1", (long long)orrery_value_int(version));
    return false;
}

static const struct kind {
    const char *name;
    bool (*take)(struct restore *restore, orrery_value line, orrery_value body);
} kinds[] = {
    { "orreryExport", take_head }, { "database", take_database },     { "container", take_container },
    { "sproc", take_procedure },   { "trigger", take_trigger },       { "udf", take_function },
    { "user", take_user },         { "permission", take_permission }, { "end", take_end },
};

static bool take_item(struct restore *restore, const struct load_item *line, orrery_value body)
{
    struct load_item item = *line;
    char *text = NULL;
    bool good;

    if (!restore->loader) {
        tell("line %llu: an item stands before its container", (unsigned long long)line->line);
        return false;
    }
    good = orrery_value_print(body, &text, &item.size) == ORRERY_OK;
    item.text = text;
    good = good && loader_add(restore->loader, &item);
    orrery_free(text);
    return good;
}

bool restore_take(struct restore *restore, const struct load_item *line, orrery_value root)
{
    orrery_value item = orrery_value_member(root, "item");

    if (orrery_value_type(item) == ORRERY_OBJECT)
        return take_item(restore, line, item);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        orrery_value body = orrery_value_member(root, kinds[i].name);

        if (orrery_value_type(body) != ORRERY_UNDEFINED)
            return kinds[i].take(restore, root, body);
    }
    tell("line %llu is nothing that this program knows", (unsigned long long)line->line);
    return false;
}

bool restore_finish(struct restore *restore, bool all_was_read)
{
    bool good = end_container(restore);

    if (good && all_was_read && !restore->ended) {
        tell("the file is not whole: its last line is missing");
        good = false;
    }
    return good;
}

void restore_close(struct restore *restore)
{
    if (!restore)
        return;
    loader_close(restore->loader);
    text_free(&restore->database);
    text_free(&restore->container);
    text_free(&restore->user);
    free(restore);
}
