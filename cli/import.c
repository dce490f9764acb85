/* cli/import.c - orrery import: from files to loader.c, what becomes of items that fail, and how an import goes on. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import.h"
#include "items.h"
#include "link.h"
#include "restore.h"
#include "resume.h"
#include "text.h"

enum { REJECTS_TOLD = 10 }; /* on standard error, where no file is named for them */

struct importer {
    const struct options *options;
    struct cli cli;
    struct progress progress;
    struct loader *loader;
    struct restore *restore; /* of a whole database; NULL: items of one container */
    FILE *rejects;
    struct resume resume;
    uint64_t next;  /* the number of the next item */
    char *key_name; /* the property that is the container's partition key, for --pk */
    struct text mapped;
    enum load_mode mode;
};

bool import_mode(const char *name, enum load_mode *mode)
{
    static const char *const names[] = { "create", "upsert", "skip" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0) {
            *mode = (enum load_mode)i;
            return true;
        }
    tell("no mode named %s: create, upsert or skip", name);
    return false;
}

/* ---- items that fail */

static void write_reject(struct importer *importer, const struct load_item *item, int http, const char *why)
{
    const char *file = importer->options->word[item->file];
    orrery_json *json = NULL;
    struct text line = { 0 };

    text_puts(&line, "{\"file\":");
    text_json(&line, file, strlen(file));
    text_printf(&line, ",\"line\":%llu,\"status\":%d,\"reason\":", (unsigned long long)item->line, http);
    text_json(&line, why, strlen(why));
    text_puts(&line, ",\"item\":");
    if (orrery_json_parse(item->text, item->size, &json) == ORRERY_OK)
        text_add(&line, item->text, item->size);
    else
        text_json(&line, item->text, item->size);
    text_puts(&line, "}\n");
    orrery_json_free(json);
    fwrite(text_of(&line), 1, line.size, importer->rejects);
    text_free(&line);
}

static void reject(void *context, const struct load_item *item, int http, const char *why)
{
    struct importer *importer = context;

    if (importer->rejects)
        write_reject(importer, item, http, why);
    else if (importer->progress.failed <= REJECTS_TOLD)
        tell("%s, line %llu: %s", importer->options->word[item->file], (unsigned long long)item->line, why);
    else if (importer->progress.failed == REJECTS_TOLD + 1)
        tell("more are rejected; --rejects FILE has all of them");
}

static bool reject_early(struct importer *importer, const struct load_item *item, const char *why)
{
    importer->progress.failed++;
    reject(importer, item, 0, why);
    return true;
}

static void note_progress(void *context)
{
    struct importer *importer = context;

    resume_write(&importer->resume, loader_done(importer->loader, importer->next),
                 importer->next + (uint64_t)(importer->options->batch * importer->options->in_flight));
}

/* ---- an item on its way */

/* Writes the id, and a partition key, from other properties. False: they are not there. */
static const char *map_item(struct importer *importer, orrery_value root)
{
    const struct options *options = importer->options;
    orrery_value id = orrery_value_member(root, options->id ? options->id : "id");
    orrery_value key = orrery_value_member(root, options->pk ? options->pk : "");
    const char *name, *key_name = options->pk ? importer->key_name : NULL;
    orrery_value value;
    char *printed = NULL;

    if (options->id && orrery_value_type(id) == ORRERY_UNDEFINED)
        return "the property for the id is missing";
    if (options->pk && orrery_value_type(key) == ORRERY_UNDEFINED)
        return "the property for the partition key is missing";
    text_empty(&importer->mapped);
    text_puts(&importer->mapped, "{\"id\":");
    if (orrery_value_print(id, &printed, NULL) != ORRERY_OK || !printed)
        return "the id is missing";
    if (orrery_value_type(id) == ORRERY_STRING)
        text_puts(&importer->mapped, printed);
    else
        text_json(&importer->mapped, printed, strlen(printed));
    orrery_free(printed);
    for (size_t at = 0; orrery_value_next(root, &at, &name, &value);) {
        if (strcmp(name, "id") == 0 || (key_name && strcmp(name, key_name) == 0))
            continue;
        text_byte(&importer->mapped, ',');
        text_json(&importer->mapped, name, strlen(name));
        text_byte(&importer->mapped, ':');
        printed = NULL;
        orrery_value_print(value, &printed, NULL);
        text_puts(&importer->mapped, printed ? printed : "null");
        orrery_free(printed);
    }
    if (key_name) {
        text_byte(&importer->mapped, ',');
        text_json(&importer->mapped, key_name, strlen(key_name));
        text_byte(&importer->mapped, ':');
        printed = NULL;
        orrery_value_print(key, &printed, NULL);
        text_puts(&importer->mapped, printed ? printed : "null");
        orrery_free(printed);
    }
    text_byte(&importer->mapped, '}');
    return NULL;
}

static bool take_item(struct importer *importer, struct load_item *item, orrery_value root)
{
    const char *wrong = NULL;

    if (orrery_value_type(root) != ORRERY_OBJECT)
        return reject_early(importer, item, "this is no JSON object");
    if (importer->options->id || importer->options->pk) {
        wrong = map_item(importer, root);
        item->text = text_of(&importer->mapped);
        item->size = importer->mapped.size;
    } else if (orrery_value_type(orrery_value_member(root, "id")) != ORRERY_STRING)
        wrong = "the item has no id, or one that is no text (--id NAME takes it from another property)";
    return wrong ? reject_early(importer, item, wrong) : loader_add(importer->loader, item);
}

static bool begin_items(struct importer *importer)
{
    struct load_settings settings = { .cli = &importer->cli,
                                      .link = importer->options->to,
                                      .mode = importer->mode,
                                      .batch = (size_t)importer->options->batch,
                                      .in_flight = (size_t)importer->options->in_flight,
                                      .progress = &importer->progress,
                                      .reject = reject,
                                      .context = importer,
                                      .settled = importer->options->resume ? note_progress : NULL };
    orrery_response *definition = NULL;
    orrery_status status = orrery_read(importer->cli.client, settings.link, NULL, &definition);
    orrery_value paths;
    const char *path;
    bool good = true;

    if (orrery_failed(status)) {
        cli_tell(&importer->cli, status, NULL);
        return false;
    }
    if (!link_is_container(settings.link)) {
        tell("these are items: --to dbs/x/colls/y");
        orrery_response_free(definition);
        return false;
    }
    paths =
        orrery_value_member(orrery_value_member(orrery_response_json(definition), "partitionKey"), "paths");
    path = orrery_value_text(orrery_value_element(paths, 0), NULL);
    if (importer->options->pk && (orrery_value_count(paths) != 1 || strchr(path + (*path == '/'), '/'))) {
        tell("--pk is for containers whose partition key is one property at the top of an item");
        good = false;
    }
    importer->key_name = must_copy(path + (*path == '/'), strlen(path + (*path == '/')));
    orrery_response_free(definition);
    importer->loader = good ? loader_open(&settings) : NULL;
    if (good && importer->options->resume)
        note_progress(importer);
    return good;
}

/* The first item of all says whether a whole database follows. */
static bool begin_import(struct importer *importer, orrery_value first)
{
    if (orrery_value_type(orrery_value_member(first, "orreryExport")) == ORRERY_UNDEFINED)
        return begin_items(importer);
    if (importer->options->resume || importer->options->id || importer->options->pk) {
        tell("--resume, --id and --pk are for items, and this is a whole database");
        return false;
    }
    importer->restore = restore_open(&importer->cli, importer->options, importer->mode, &importer->progress,
                                     reject, importer);
    return importer->restore;
}

static bool take(struct importer *importer, struct load_item *item, enum item_result result, const char *why)
{
    orrery_json *json = NULL;
    bool good;

    if (result == ITEM_FOUND && orrery_json_parse(item->text, item->size, &json) != ORRERY_OK)
        why = "this is no JSON";
    good = importer->loader || importer->restore ||
           begin_import(importer, json ? orrery_json_root(json) : (orrery_value){ NULL });
    if (good && importer->restore)
        good = why ? reject_early(importer, item, why)
                   : restore_take(importer->restore, item, orrery_json_root(json));
    else if (good)
        good = why ? reject_early(importer, item, why) : take_item(importer, item, orrery_json_root(json));
    orrery_json_free(json);
    return good;
}

static bool import_file(struct importer *importer, int number)
{
    struct items *items = items_open(importer->options->word[number], importer->options->format);
    enum item_result result = ITEM_FAILED;
    uint64_t before = importer->progress.at;
    struct item item;
    bool good = items;

    while (good && (result = items_next(items, &item)) != ITEM_END) {
        uint64_t at = importer->next;
        struct load_item load = {
            .text = item.text, .size = item.size, .number = at, .line = item.line, .file = number
        };

        if (result == ITEM_FAILED || interrupted())
            break;
        importer->progress.at = before + items_at(items);
        progress_look(&importer->progress);
        load.may_be_there = at < importer->resume.sent;
        if (at >= importer->resume.done)
            good = take(importer, &load, result, item.why);
        importer->next++; /* only now: until it is in a bulk, nobody else knows that it is not settled */
    }
    items_close(items);
    return good && result == ITEM_END;
}

static void measure(struct importer *importer)
{
    for (size_t i = 0; i < importer->options->word_count; i++) {
        FILE *file =
            strcmp(importer->options->word[i], "-") == 0 ? NULL : fopen(importer->options->word[i], "r");

        if (file && fseek(file, 0, SEEK_END) == 0 && ftell(file) > 0)
            importer->progress.size += (uint64_t)ftell(file);
        if (file)
            fclose(file);
    }
}

static bool import_all(struct importer *importer)
{
    bool good = true;

    measure(importer);
    for (size_t i = 0; i < importer->options->word_count && good; i++)
        good = import_file(importer, (int)i);
    if (importer->loader) /* what was read before the failure is written all the same */
        good = loader_finish(importer->loader) && good;
    if (importer->restore)
        good = restore_finish(importer->restore, good) && good;
    if (importer->loader && importer->options->resume)
        note_progress(importer);
    return good && !interrupted();
}

static bool open_files(struct importer *importer)
{
    const struct options *options = importer->options;

    if (options->resume &&
        !resume_open(&importer->resume, options->resume, options->word, options->word_count))
        return false;
    if (!options->rejects)
        return true;
    importer->rejects = fopen(options->rejects, importer->resume.done ? "a" : "w");
    if (!importer->rejects)
        tell("%s cannot be written: %s", options->rejects, strerror(errno));
    return importer->rejects;
}

static bool close_files(struct importer *importer)
{
    bool good = !importer->rejects || (!ferror(importer->rejects) && fclose(importer->rejects) == 0);

    if (!good)
        tell("%s could not be written", importer->options->rejects);
    return good && !importer->resume.failed;
}

/* A container, or the database that a file of orrery export --all becomes. */
static bool is_target(const char *link)
{
    return link_is_container(link) || (link_depth(link) == 2 && strncmp(link, "dbs/", 4) == 0);
}

int import_command(const struct options *options)
{
    struct importer importer = { .options = options };
    bool good;

    if (options->word_count == 0 || !options->to || !is_target(options->to)) {
        tell("usage: orrery import FILE... --to dbs/x/colls/y; - is standard input");
        return 2;
    }
    if (!import_mode(options->mode, &importer.mode))
        return 2;
    if (!open_files(&importer) || !cli_open(&importer.cli, options))
        return 2;
    interrupt_catch();
    progress_begin(&importer.progress, "imported", options->quiet);
    good = import_all(&importer);
    progress_end(&importer.progress);
    if (!good && options->resume)
        tell("not all was read; the same command goes on from item %llu",
             (unsigned long long)importer.resume.done + 1);
    cli_close(&importer.cli); /* before those whom its calls would tell */
    good = close_files(&importer) && good;
    loader_close(importer.loader);
    restore_close(importer.restore);
    text_free(&importer.mapped);
    free(importer.key_name);
    return good && importer.progress.failed == 0 ? 0 : 1;
}
