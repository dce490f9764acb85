/* cli/samples.c - orrery samples: finds the models, and loads one. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "items.h"
#include "loader.h"
#include "samples.h"
#include "text.h"

enum { MODEL_BYTES_MAX = 1 << 20 };

struct sample {
    struct cli cli;
    const struct options *options;
    struct text folder, database; /* database: its link */
    struct progress progress;
};

/* ---- files */

static bool is_there(const struct text *path)
{
    return access(text_of(path), R_OK) == 0;
}

/* The folder of all models: beside the program where it was installed, in libexec too, or where it was built. */
static bool find_models(const struct options *options, struct text *folder)
{
    static const char *const places[] = { "/../share/orrery/samples", "/../../share/orrery/samples",
                                          "/../samples", "/../../samples" };
    char program[PATH_MAX] = "";
    ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
    char *slash;

    if (options->from) {
        text_puts(folder, options->from);
        return is_there(folder);
    }
    program[size > 0 ? size : 0] = '\0';
    slash = strrchr(program, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        text_empty(folder);
        text_printf(folder, "%s%s", program, places[i]);
        if (is_there(folder))
            return true;
    }
    return false;
}

static bool read_file(const char *path, struct text *to)
{
    FILE *file = fopen(path, "r");
    size_t got = 1;

    text_empty(to);
    while (file && got && to->size < MODEL_BYTES_MAX) {
        text_reserve(to, 65536);
        got = fread(to->data + to->size, 1, 65536, file);
        to->size += got;
        to->data[to->size] = '\0';
    }
    if (!file || ferror(file))
        tell("%s cannot be read", path);
    if (file)
        fclose(file);
    return file;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && !strchr(entry->d_name, '~') && strcmp(entry->d_name, "README.md") != 0;
}

/* Every file of the sample's folder `below`, in the order of names; a folder that is missing has none. */
typedef bool each_file(struct sample *sample, const char *path, const char *name);

static bool for_each(struct sample *sample, const char *below, each_file *each)
{
    struct text folder = { 0 }, path = { 0 };
    struct dirent **entry = NULL;
    bool good = true;
    int count;

    text_printf(&folder, "%s/%s", text_of(&sample->folder), below);
    count = scandir(text_of(&folder), &entry, is_shown, by_name);
    for (int i = 0; i < count; i++) {
        text_empty(&path);
        text_printf(&path, "%s/%s", text_of(&folder), entry[i]->d_name);
        good = good && each(sample, text_of(&path), entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    text_free(&folder);
    text_free(&path);
    return good;
}

/* ---- loading */

static bool worked(const struct sample *sample, orrery_status status)
{
    if (orrery_failed(status))
        cli_tell(&sample->cli, status, NULL);
    return !orrery_failed(status);
}

static bool make_containers(struct sample *sample)
{
    struct text path = { 0 }, model = { 0 }, feed = { 0 };
    orrery_json *json = NULL;
    orrery_value list;
    bool good;

    text_printf(&path, "%s/model.json", text_of(&sample->folder));
    good = read_file(text_of(&path), &model);
    if (good && orrery_json_parse(text_of(&model), model.size, &json) != ORRERY_OK) {
        tell("%s is no JSON", text_of(&path));
        good = false;
    }
    list = json ? orrery_value_member(orrery_json_root(json), "containers") : (orrery_value){ NULL };
    text_printf(&feed, "%s/colls", text_of(&sample->database));
    for (size_t i = 0; good && i < orrery_value_count(list); i++) {
        char *body = NULL;

        good = orrery_value_print(orrery_value_element(list, i), &body, NULL) == ORRERY_OK &&
               worked(sample, orrery_create_if_missing(sample->cli.client, text_of(&feed), body, ORRERY_TEXT,
                                                       NULL, NULL));
        orrery_free(body);
    }
    if (good && !sample->options->quiet)
        fprintf(stderr, "%s\n",
                orrery_value_text(orrery_value_member(orrery_json_root(json), "about"), NULL));
    orrery_json_free(json);
    text_free(&path);
    text_free(&model);
    text_free(&feed);
    return good;
}

/* "library.post.Create.count.js": container, kind, of a trigger its operation, and the id. */
static bool make_script(struct sample *sample, const char *path, const char *name)
{
    char container[128] = "", kind[16] = "", operation[16] = "", id[128] = "";
    struct text source = { 0 }, body = { 0 }, feed = { 0 };
    bool good = sscanf(name, "%127[^.].%15[^.].", container, kind) == 2;
    bool is_trigger = strcmp(kind, "pre") == 0 || strcmp(kind, "post") == 0;
    const char *folder;

    if (is_trigger)
        good = sscanf(name, "%*[^.].%*[^.].%15[^.].%127[^.].js", operation, id) == 2;
    else
        good = good && sscanf(name, "%*[^.].%*[^.].%127[^.].js", id) == 1;
    if (!good)
        tell("%s: a script is called CONTAINER.sproc.NAME.js, .udf.NAME.js or .pre.Create.NAME.js", name);
    good = good && read_file(path, &source);
    folder = is_trigger ? "triggers" : strcmp(kind, "udf") == 0 ? "udfs" : "sprocs";
    text_puts(&body, "{\"id\":");
    text_json(&body, id, strlen(id));
    text_puts(&body, ",\"body\":");
    text_json(&body, text_of(&source), source.size);
    if (is_trigger)
        text_printf(&body, ",\"triggerType\":\"%s\",\"triggerOperation\":\"%s\"",
                    strcmp(kind, "pre") == 0 ? "Pre" : "Post", operation);
    text_byte(&body, '}');
    if (good)
        text_printf(&feed, "%s/colls/%s/%s", text_of(&sample->database), container, folder);
    good = good && worked(sample, orrery_upsert(sample->cli.client, text_of(&feed), text_of(&body), body.size,
                                                NULL, NULL));
    text_free(&source);
    text_free(&body);
    text_free(&feed);
    return good;
}

static void reject(void *context, const struct load_item *item, int http, const char *why)
{
    (void)context;
    tell("line %llu: %d, %s", (unsigned long long)item->line, http, why);
}

static bool load_items(struct sample *sample, const char *path, const char *name)
{
    struct text link = { 0 };
    struct load_settings settings = { .cli = &sample->cli,
                                      .mode = LOAD_UPSERT,
                                      .batch = (size_t)sample->options->batch,
                                      .in_flight = (size_t)sample->options->in_flight,
                                      .progress = &sample->progress,
                                      .reject = reject };
    struct items *items = items_open(path, NULL);
    struct loader *loader;
    struct item item;
    enum item_result result = ITEM_FAILED;
    bool good = items;

    text_printf(&link, "%s/colls/%.*s", text_of(&sample->database), (int)strcspn(name, "."), name);
    settings.link = text_of(&link);
    loader = loader_open(&settings);
    while (good && (result = items_next(items, &item)) == ITEM_FOUND) {
        struct load_item load = { .text = item.text, .size = item.size, .line = item.line };

        good = loader_add(loader, &load);
    }
    good = loader_finish(loader) && good && result == ITEM_END && sample->progress.failed == 0;
    if (!good) /* calls may be under way, and must not find the loader gone */
        cli_close(&sample->cli);
    items_close(items);
    loader_close(loader);
    text_free(&link);
    return good;
}

static bool load(struct sample *sample, const char *name)
{
    const char *id = strchr(text_of(&sample->database), '/') + 1;
    struct text body = { 0 };
    bool good;

    text_puts(&body, "{\"id\":");
    text_json(&body, id, strlen(id));
    text_byte(&body, '}');
    progress_begin(&sample->progress, "loaded", sample->options->quiet);
    good = worked(sample, orrery_create_if_missing(sample->cli.client, "dbs", text_of(&body), body.size, NULL,
                                                   NULL)) &&
           make_containers(sample) && for_each(sample, "scripts", make_script) &&
           for_each(sample, "items", load_items);
    progress_end(&sample->progress);
    if (good && !sample->options->quiet)
        fprintf(stderr, "%s is in %s; its queries: orrery shell --in %s -f %s/queries.txt\n", name,
                text_of(&sample->database), text_of(&sample->database), text_of(&sample->folder));
    text_free(&body);
    return good;
}

/* ---- the command */

static bool print_name(struct sample *sample, const char *path, const char *name)
{
    (void)sample, (void)path;
    return puts(name) >= 0;
}

/* "books" is samples/books/good in dbs/books, "books/bad" is samples/books/bad in dbs/books-bad. */
static void choose(struct sample *sample, const char *name)
{
    bool is_bad = strlen(name) > 4 && strcmp(name + strlen(name) - 4, "/bad") == 0;

    text_printf(&sample->folder, "/%s%s", name, strchr(name, '/') ? "" : "/good");
    if (sample->options->to)
        text_puts(&sample->database, sample->options->to);
    else
        text_printf(&sample->database, "dbs/%.*s%s", (int)strcspn(name, "/"), name, is_bad ? "-bad" : "");
}

int samples_command(const struct options *options)
{
    struct sample sample = { .options = options };
    bool good = options->word_count <= 1 && (!options->to || strncmp(options->to, "dbs/", 4) == 0);
    int result = 2;

    if (!good)
        tell("usage: orrery samples [NAME | NAME/bad] [--to dbs/x]");
    else if (!find_models(options, &sample.folder))
        tell("the folder of the models is missing: it belongs in share/orrery/samples, or --from names it");
    else if (options->word_count == 0)
        result = for_each(&sample, "", print_name) ? 0 : 1;
    else if (cli_open(&sample.cli, options)) {
        choose(&sample, options->word[0]);
        if (is_there(&sample.folder))
            result = load(&sample, options->word[0]) ? 0 : 1;
        else
            tell("no model named %s (orrery samples lists them)", options->word[0]);
        cli_close(&sample.cli);
    }
    text_free(&sample.folder);
    text_free(&sample.database);
    return result;
}
