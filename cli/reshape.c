/* cli/reshape.c - the steps of a reshaping, each of which goes on where an earlier run of the command ended. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "members.h"
#include "reshape.h"
#include "reshape_private.h"

enum { LOOK_AGAIN_MS = 200, HOLD_MS = 5000, SWITCHES = 100 };

static bool worked(const struct reshape *reshape, orrery_status status)
{
    if (!orrery_failed(status))
        return true;
    cli_tell(reshape->cli, status, NULL);
    return false;
}

static void say(const struct reshape *reshape, const char *what, uint64_t count)
{
    if (!reshape->cli->options->quiet)
        tell("%s: %llu %s", text_of(&reshape->from), (unsigned long long)count, what);
}

static bool goes_on(void)
{
    if (interrupted())
        tell("interrupted: run the command again to go on");
    return !interrupted();
}

/* ---- the new container ---- */

static bool read_rid(struct reshape *reshape, const struct text *link, struct text *rid)
{
    orrery_response *response = NULL;
    bool good = worked(reshape, orrery_read(reshape->cli->client, text_of(link), NULL, &response));

    if (good) {
        text_empty(rid);
        text_puts(rid, orrery_value_text(orrery_value_member(orrery_response_json(response), "_rid"), NULL));
    }
    orrery_response_free(response);
    return good;
}

static bool copy_scripts_of(struct reshape *reshape, const char *kind)
{
    struct text from = { 0 }, to = { 0 }, body = { 0 };
    orrery_query *list = NULL;
    orrery_status status;

    text_printf(&from, "%s/%s", text_of(&reshape->from), kind);
    text_printf(&to, "%s/%s", text_of(&reshape->to), kind);
    status = orrery_list_open(reshape->cli->client, text_of(&from), NULL, NULL, &list);
    while (!orrery_failed(status) && (status = orrery_query_step(list)) == ORRERY_ROW) {
        size_t size;
        const char *row = orrery_query_row(list, &size);

        text_empty(&body);
        members_without_system(&body, row, size);
        status = orrery_create(reshape->cli->client, text_of(&to), text_of(&body), body.size, NULL, NULL);
        if (status == ORRERY_ECONFLICT) /* of an earlier run */
            status = ORRERY_OK;
    }
    orrery_query_close(list);
    text_free(&from);
    text_free(&to);
    text_free(&body);
    return worked(reshape, status);
}

static bool copy_scripts(struct reshape *reshape)
{
    return copy_scripts_of(reshape, "sprocs") && copy_scripts_of(reshape, "triggers") &&
           copy_scripts_of(reshape, "udfs");
}

static bool read_offer(struct reshape *reshape, orrery_options *options)
{
    int throughput = 0, autoscale = 0;
    orrery_status status =
        orrery_throughput_read(reshape->cli->client, text_of(&reshape->from), &throughput, &autoscale);

    if (status == ORRERY_ENOTFOUND)
        return true;
    options->throughput = autoscale ? 0 : throughput;
    options->throughput_max = autoscale ? throughput : 0;
    return worked(reshape, status);
}

/* An earlier run may have made it, and nothing more: then it is empty. */
static bool is_empty(struct reshape *reshape, const struct text *link)
{
    uint64_t rows = 0;
    orrery_query *list = NULL;
    orrery_status status = orrery_list_open(reshape->cli->client, text_of(link), NULL, NULL, &list);

    if (!orrery_failed(status) && orrery_query_step(list) == ORRERY_ROW)
        rows++;
    orrery_query_close(list);
    if (rows)
        tell("there is a container %s with items in it: delete it, or give it another name", text_of(link));
    return rows == 0 && worked(reshape, status);
}

static bool make(struct reshape *reshape, const struct text *link, const struct text *body,
                 const orrery_options *options)
{
    struct text feed = { 0 };
    orrery_status status;

    text_printf(&feed, "%s/colls", text_of(&reshape->database));
    status = orrery_create(reshape->cli->client, text_of(&feed), text_of(body), body->size, options, NULL);
    text_free(&feed);
    return status == ORRERY_ECONFLICT ? is_empty(reshape, link) : worked(reshape, status);
}

/* Wholes are found by their owners, and counted. */
static bool make_parts(struct reshape *reshape, const orrery_options *options)
{
    struct text body = { 0 }, id = { 0 };
    bool good;

    text_printf(&id, "%s" RESHAPE_PARTS, reshape->name);
    text_puts(&body, "{\"id\":");
    text_json(&body, text_of(&id), id.size);
    text_puts(&body, ",\"partitionKey\":{\"paths\":[\"/owner\"],\"kind\":\"Hash\",\"version\":2},"
                     "\"indexingPolicy\":{\"includedPaths\":[{\"path\":\"/count/?\"}],"
                     "\"excludedPaths\":[{\"path\":\"/*\"}]}}");
    good = make(reshape, &reshape->parts, &body, options) &&
           read_rid(reshape, &reshape->parts, &reshape->parts_made);
    text_free(&body);
    text_free(&id);
    return good;
}

static bool make_containers(struct reshape *reshape)
{
    orrery_options options = { .size = sizeof(options) };
    struct text body = { 0 }, id = { 0 };
    orrery_response *old = NULL;
    orrery_status status = orrery_read(reshape->cli->client, text_of(&reshape->from), NULL, &old);
    bool good = worked(reshape, status) && read_offer(reshape, &options);

    text_printf(&id, "%s" RESHAPE_SUFFIX, reshape->name);
    if (good) {
        plan_define(&body, text_of(&id), orrery_response_json(old), reshape->plan);
        good = make(reshape, &reshape->to, &body, &options) &&
               (reshape->embeds.count == 0 || make_parts(reshape, &options));
    }
    orrery_response_free(old);
    text_free(&body);
    text_free(&id);
    return good;
}

/* From where the feeds of all versions are read later on: whatever is changed from now on is in them. */
static bool note_now(struct reshape *reshape)
{
    bool good = true;

    for (size_t i = 0; good && i < reshape->source_count; i++) {
        text_empty(&reshape->place[i].latest);
        good = feed_now(reshape, &reshape->source[i].link, FEED_ALL, &reshape->place[i].began);
        feed_place(&reshape->place[i].all, text_of(&reshape->place[i].began));
    }
    return good;
}

static bool begin(struct reshape *reshape)
{
    if (!read_rid(reshape, &reshape->from, &reshape->of) || !state_write(reshape) ||
        !make_containers(reshape) || !copy_scripts(reshape) ||
        !read_rid(reshape, &reshape->to, &reshape->made) || !note_now(reshape))
        return false;
    reshape->phase = PHASE_COPY;
    return state_write(reshape);
}

/* ---- the copy, and what is changed meanwhile ---- */

/* One page more, which leads on from `where`. `more` is false when there is none up to the moment. */
static bool read_page(struct reshape *reshape, size_t source, enum feed feed, const char *until,
                      struct text *where, struct pages *pages, bool *more)
{
    orrery_response *response = NULL;
    orrery_status status =
        feed_read(reshape, &reshape->source[source].link, feed, text_of(where), until, &response);
    orrery_value changes = orrery_value_member(orrery_response_json(response), "Documents");

    *more = status != ORRERY_NOT_MODIFIED;
    if (orrery_failed(status) || !*more) {
        orrery_response_free(response);
        return !orrery_failed(status);
    }
    feed_place(where, orrery_response_etag(response));
    *(feed == FEED_ALL ? &reshape->changes : &reshape->items) += orrery_value_count(changes);
    pages_add(pages, response);
    return true;
}

/* Puts down that everything up to there was taken over. */
static bool move_on(struct reshape *reshape, struct text *place, const struct text *to)
{
    if (strcmp(text_of(place), text_of(to)) == 0)
        return true;
    feed_place(place, text_of(to));
    return state_write(reshape);
}

static bool take_over(struct reshape *reshape, size_t source, struct pages *pages, const struct text *to)
{
    bool good = (!pages->count || rows_take_over(reshape, source, FEED_ALL, pages)) &&
                move_on(reshape, &reshape->place[source].all, to);

    pages_free(pages);
    return good;
}

/*
 * Everything up to now. A page of one bucket ends at an LSN, and is taken over by itself. Of several buckets only a moment has
 * all of a change that goes from one to another: what was changed up to then is taken over together.
 */
static bool follow_source(struct reshape *reshape, size_t source)
{
    struct text moment = { 0 }, where = { 0 };
    struct pages pages = { 0 };
    bool more = true, good = feed_now(reshape, &reshape->source[source].link, FEED_ALL, &moment);

    feed_place(&where, text_of(&reshape->place[source].all));
    while (good && more && strcmp(text_of(&where), text_of(&moment)) != 0) {
        good = goes_on() && read_page(reshape, source, FEED_ALL, text_of(&moment), &where, &pages, &more);
        if (good && !feed_is_several(&moment))
            good = take_over(reshape, source, &pages, &where);
    }
    good = good && take_over(reshape, source, &pages, &moment);
    pages_free(&pages);
    text_free(&moment);
    text_free(&where);
    return good;
}

static bool follow(struct reshape *reshape)
{
    bool good = true;

    for (size_t i = 0; good && i < reshape->source_count; i++)
        good = follow_source(reshape, i);
    return good;
}

static bool copy_page(struct reshape *reshape, size_t source, bool *more)
{
    struct place *place = &reshape->place[source];
    struct text where = { 0 };
    struct pages pages = { 0 };
    bool good;

    feed_place(&where, text_of(&place->latest));
    good = read_page(reshape, source, FEED_LATEST, text_of(&place->began), &where, &pages, more) &&
           (!*more || rows_take_over(reshape, source, FEED_LATEST, &pages)) &&
           move_on(reshape, &place->latest, &where);
    pages_free(&pages);
    text_free(&where);
    return good;
}

/*
 * Items as they are, if they were not changed since it began: the other feed has those. It is followed meanwhile, so that what
 * is taken over together is no more than memory has room for.
 */
static bool copy(struct reshape *reshape)
{
    bool good = true;

    for (size_t i = 0; good && i < reshape->source_count; i++) {
        bool more = true;

        while (good && more)
            good = goes_on() && copy_page(reshape, i, &more) && follow(reshape);
    }
    if (!good)
        return false;
    say(reshape, "items copied", reshape->items);
    reshape->phase = PHASE_FOLLOW;
    return state_write(reshape);
}

/* ---- in the place of the old one ---- */

static orrery_status command(const struct reshape *reshape, const char *link, const struct text *body)
{
    return orrery_create(reshape->cli->client, link, text_of(body), body->size, NULL, NULL);
}

/* Of all that items come from. */
static orrery_status hold(const struct reshape *reshape, int ms)
{
    orrery_status status = ORRERY_OK;

    for (size_t i = 0; !orrery_failed(status) && i < reshape->source_count; i++) {
        struct text body = { 0 };

        text_puts(&body, "{\"container\":");
        text_json(&body, text_of(&reshape->source[i].link), reshape->source[i].link.size);
        text_printf(&body, ",\"ms\":%d}", ms);
        status = command(reshape, "_orrery/hold", &body);
        text_free(&body);
    }
    return status;
}

/* If nobody has written to any of them since. */
static orrery_status swap(const struct reshape *reshape, const struct text *with)
{
    struct text body = { 0 };
    orrery_status status;

    text_puts(&body, "{\"container\":");
    text_json(&body, text_of(&reshape->from), reshape->from.size);
    text_printf(&body, ",\"lsn\":[%s],\"with\":", text_of(&reshape->place[0].all));
    text_json(&body, text_of(&reshape->to), reshape->to.size);
    text_printf(&body, ",\"withLsn\":[%s],\"unchanged\":[", text_of(with));
    for (size_t i = 1; i < reshape->source_count; i++) {
        text_puts(&body, i > 1 ? ",{\"container\":" : "{\"container\":");
        text_json(&body, text_of(&reshape->source[i].link), reshape->source[i].link.size);
        text_printf(&body, ",\"lsn\":[%s]}", text_of(&reshape->place[i].all));
    }
    text_puts(&body, "]}");
    status = command(reshape, "_orrery/swap", &body);
    text_free(&body);
    return status;
}

/* Writers are held back while the last changes are taken over. One that was under way already makes another round. */
static bool change_places(struct reshape *reshape)
{
    orrery_status status = ORRERY_EPRECONDITION;
    struct text with = { 0 };
    bool good = true;

    for (int i = 0; good && status == ORRERY_EPRECONDITION && i < SWITCHES; i++) {
        good = worked(reshape, hold(reshape, HOLD_MS)) && follow(reshape) && verify_balance(reshape) &&
               feed_now(reshape, &reshape->to, FEED_LATEST, &with);
        if (good)
            status = swap(reshape, &with);
    }
    text_free(&with);
    if (good && orrery_failed(status))
        cli_tell(reshape->cli, status, NULL);
    if (!good || orrery_failed(status) || reshape->source_count > 1)
        hold(reshape, 0);
    return good && !orrery_failed(status);
}

static bool is_switched(struct reshape *reshape)
{
    struct text rid = { 0 };
    bool is = reshape->made.size && read_rid(reshape, &reshape->from, &rid) &&
              strcmp(text_of(&rid), text_of(&reshape->made)) == 0;

    text_free(&rid);
    return is;
}

/* The container is the one that this has made, or one that an earlier run had just made. */
static bool may_remove(struct reshape *reshape, const struct text *link, const struct text *made)
{
    struct text rid = { 0 };
    bool may;

    if (!made->size)
        return is_empty(reshape, link);
    may = read_rid(reshape, link, &rid) && strcmp(text_of(&rid), text_of(made)) == 0;
    text_free(&rid);
    return may;
}

/* True: there is none now. */
static bool remove_made(struct reshape *reshape, const struct text *link, const struct text *made)
{
    orrery_status status = orrery_read(reshape->cli->client, text_of(link), NULL, NULL);

    if (!orrery_failed(status) && !may_remove(reshape, link, made))
        return false;
    if (!orrery_failed(status))
        status = orrery_delete(reshape->cli->client, text_of(link), NULL, NULL);
    return status == ORRERY_ENOTFOUND || worked(reshape, status);
}

static bool remove_parts(struct reshape *reshape)
{
    return (!reshape->embeds.count && !reshape->parts_made.size) ||
           remove_made(reshape, &reshape->parts, &reshape->parts_made);
}

/* That it is done is kept, so that the same command does not begin anew. */
static bool finish(struct reshape *reshape)
{
    if (reshape->phase != PHASE_DONE) {
        if (!remove_parts(reshape))
            return false;
        reshape->phase = PHASE_DONE;
        if (!state_write(reshape))
            return false;
    }
    printf("%s is what the plan says; what it was before is %s: delete it when nothing is missed\n",
           text_of(&reshape->from), text_of(&reshape->to));
    for (size_t i = 1; i < reshape->source_count; i++)
        printf("%s is in it as of LSN %s: what is written there from now on is not\n",
               text_of(&reshape->source[i].link), text_of(&reshape->place[i].all));
    return true;
}

/* ---- the command ---- */

static bool define(struct reshape *reshape)
{
    orrery_response *response = NULL;
    bool good = worked(reshape, orrery_read(reshape->cli->client, text_of(&reshape->to), NULL, &response)) &&
                orrery_json_parse(orrery_response_body(response, NULL), ORRERY_TEXT, &reshape->definition) ==
                    ORRERY_OK;

    if (good)
        reshape->key = orrery_value_member(
            orrery_value_member(orrery_json_root(reshape->definition), "partitionKey"), "paths");
    orrery_response_free(response);
    return good;
}

/* The new container has everything, and was compared. `done`: it has taken the old one's place already. */
static bool prepare(struct reshape *reshape, bool *done)
{
    uint64_t rows = 0;

    if (!state_read(reshape))
        return false;
    *done = is_switched(reshape);
    if (*done)
        return finish(reshape);
    if (reshape->phase == PHASE_DONE) /* the container was made anew since */
        reshape->phase = PHASE_BEGIN;
    if (!embed_sources_define(reshape->cli, &reshape->embeds, reshape->source, reshape->source_count) ||
        (reshape->phase == PHASE_BEGIN && !begin(reshape)) || !define(reshape) ||
        (reshape->phase == PHASE_COPY && !copy(reshape)) || !follow(reshape))
        return false;
    say(reshape, "changes followed", reshape->changes);
    if (!verify(reshape, &rows))
        return false;
    printf("%s: %llu items compared as of LSN %s, none differs\n", text_of(&reshape->from),
           (unsigned long long)rows, text_of(&reshape->place[0].all));
    return true;
}

static bool conclude(struct reshape *reshape)
{
    const struct options *options = reshape->cli->options;

    while (options->follow && !interrupted()) {
        if (!follow(reshape))
            return interrupted();
        poll(NULL, 0, LOOK_AGAIN_MS);
    }
    if (options->switches)
        return follow(reshape) && change_places(reshape) && finish(reshape);
    printf("%s has every change up to LSN %s: --switch puts it in the place of %s\n", text_of(&reshape->to),
           text_of(&reshape->place[0].all), text_of(&reshape->from));
    return true;
}

static bool cancel(struct reshape *reshape)
{
    reshape->any_plan = true;
    if (!state_read(reshape))
        return false;
    if (!reshape->is_kept) {
        tell("%s is not being reshaped", text_of(&reshape->from));
        return false;
    }
    if (reshape->phase == PHASE_DONE || is_switched(reshape)) /* what it was before is left to its owner */
        return state_remove(reshape);
    return remove_made(reshape, &reshape->to, &reshape->made) && remove_parts(reshape) &&
           state_remove(reshape);
}

static void reshape_open(struct reshape *reshape, const struct cli *cli, const char *database,
                         orrery_value plan)
{
    *reshape = (struct reshape){ .cli = cli, .plan = plan, .mapping = plan_mapping(plan) };
    reshape->name = orrery_value_text(orrery_value_member(plan, "id"), NULL);
    text_puts(&reshape->database, database);
    text_printf(&reshape->from, "%s/colls/%s", database, reshape->name);
    text_printf(&reshape->to, "%s" RESHAPE_SUFFIX, text_of(&reshape->from));
    text_printf(&reshape->parts, "%s" RESHAPE_PARTS, text_of(&reshape->from));
    text_printf(&reshape->states, "%s/colls/" RESHAPE_STATES, database);
}

static void reshape_close(struct reshape *reshape)
{
    struct text *const texts[] = { &reshape->database, &reshape->from, &reshape->to,
                                   &reshape->states,   &reshape->of,   &reshape->made,
                                   &reshape->parts,    &reshape->etag, &reshape->parts_made };

    orrery_json_free(reshape->definition);
    embed_sources_free(reshape->source, reshape->source_count);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        text_free(texts[i]);
    for (size_t i = 0; i < reshape->source_count; i++) {
        text_free(&reshape->place[i].latest);
        text_free(&reshape->place[i].began);
        text_free(&reshape->place[i].all);
    }
}

static bool run_one(const struct cli *cli, const char *database, orrery_value plan)
{
    struct reshape reshape;
    bool done = false, good;

    reshape_open(&reshape, cli, database, plan);
    good = embeds_read(&reshape.embeds, plan);
    if (good)
        reshape.source_count = embed_sources(&reshape.embeds, database, reshape.name, reshape.source);
    if (good && cli->options->cancel)
        good = cancel(&reshape);
    else
        good = good && prepare(&reshape, &done) && (done || conclude(&reshape));
    reshape_close(&reshape);
    return good;
}

/* One after another: each is there, or is as it was. */
static bool run_all(const struct cli *cli, orrery_value plan)
{
    const char *named = orrery_value_text(orrery_value_member(plan, "database"), NULL);
    const char *database = cli->options->in ? cli->options->in : named;
    orrery_value one;
    bool good = *database;

    if (!good)
        tell("the plan names no database: --in dbs/x");
    for (size_t at = 0; good && orrery_value_next(orrery_value_member(plan, "containers"), &at, NULL, &one);)
        good = run_one(cli, database, one);
    return good;
}

int reshape_command(const struct options *options)
{
    orrery_json *plan = options->word_count == 1 ? plan_read(options->word[0]) : NULL;
    struct cli cli;
    bool good;

    if (options->word_count != 1)
        tell("reshape wants one plan, a file: docs/modelling/reshape.md");
    if (!plan || !cli_open(&cli, options)) {
        orrery_json_free(plan);
        return 2;
    }
    interrupt_catch();
    good = run_all(&cli, orrery_json_root(plan));
    orrery_json_free(plan);
    cli_close(&cli);
    return good ? 0 : 1;
}
