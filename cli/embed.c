/* cli/embed.c - reads what a plan embeds, finds owners, and joins them with their parts. */
#include <stdlib.h>
#include <string.h>

#include "embed.h"
#include "mapping.h"
#include "members.h"

/* ---- the plan ---- */

static const char *text_at(orrery_value value, const char *name)
{
    orrery_value member = orrery_value_member(value, name);

    return orrery_value_type(member) == ORRERY_STRING ? orrery_value_text(member, NULL) : NULL;
}

/* A member of the owner: /emails. Below it there are none. */
static bool is_member_path(const char *path)
{
    return path && path[0] == '/' && path[1] && !strpbrk(path + 1, "/[");
}

static bool read_embed(struct embed *embed, orrery_value one, const char *owner)
{
    const char *from = text_at(one, "from"), *as = text_at(one, "as");

    *embed = (struct embed){ .from = from ? from : owner,
                             .mapping = plan_mapping(one),
                             .order = text_at(one, "order"),
                             .on = orrery_value_member(one, "on"),
                             .single = orrery_value_type(orrery_value_member(one, "single")) == ORRERY_TRUE };
    if (!is_member_path(as) || !text_at(embed->on, "/id"))
        return false;
    embed->member = as + 1;
    return true;
}

bool embeds_read(struct embeds *embeds, orrery_value plan)
{
    orrery_value list = orrery_value_member(plan, "embed"), one;
    const char *orphans = text_at(plan, "orphans");
    bool good = orrery_value_type(list) == ORRERY_UNDEFINED ||
                (orrery_value_type(list) == ORRERY_ARRAY && orrery_value_count(list) <= EMBEDS_MAX);

    *embeds = (struct embeds){ .leaves_orphans = orphans && strcmp(orphans, "leave") == 0 };
    for (size_t at = 0; good && orrery_value_next(list, &at, NULL, &one); embeds->count++) {
        good = read_embed(&embeds->embed[embeds->count], one, text_at(plan, "id"));
        for (size_t i = 0; good && i < embeds->count; i++)
            good = strcmp(embeds->embed[i].member, embeds->embed[embeds->count].member) != 0;
    }
    if (!good)
        tell("\"embed\" must be a list of at most %d: {\"from\":\"contacts\",\"on\":{\"/id\":\"/personId\"},"
             "\"as\":\"/contacts\"}",
             EMBEDS_MAX);
    return good;
}

/* ---- where items come from ---- */

static void add_source(struct source *source, const char *database, const char *id)
{
    source->id = id;
    text_printf(&source->link, "%s/colls/%s", database, id);
}

size_t embed_sources(const struct embeds *embeds, const char *database, const char *id,
                     struct source source[SOURCES_MAX])
{
    size_t count = 1;

    add_source(&source[0], database, id);
    for (size_t i = 0; i < embeds->count; i++) {
        size_t at = 0;

        while (at < count && strcmp(source[at].id, embeds->embed[i].from) != 0)
            at++;
        if (at == count)
            add_source(&source[count++], database, embeds->embed[i].from);
    }
    return count;
}

/* An owner is named by its id and its partition key, or two could be meant. */
static bool names_owner(const struct embed *embed, orrery_value key)
{
    for (size_t i = 0; i < orrery_value_count(key); i++) {
        const char *path = orrery_value_text(orrery_value_element(key, i), NULL);

        if (text_at(embed->on, path))
            continue;
        tell("items of '%s' do not say whose part they are: \"on\" names no path for the partition key %s of "
             "the owner",
             embed->from, path);
        return false;
    }
    return true;
}

bool embed_sources_define(const struct cli *cli, const struct embeds *embeds, struct source *source,
                          size_t count)
{
    bool good = true;

    for (size_t i = 0; good && i < count; i++) {
        orrery_response *response = NULL;
        orrery_status status = orrery_read(cli->client, text_of(&source[i].link), NULL, &response);

        good = !orrery_failed(status) && orrery_json_parse(orrery_response_body(response, NULL), ORRERY_TEXT,
                                                           &source[i].definition) == ORRERY_OK;
        if (!good)
            cli_tell(cli, status, NULL);
        else
            source[i].key = orrery_value_member(
                orrery_value_member(orrery_json_root(source[i].definition), "partitionKey"), "paths");
        orrery_response_free(response);
    }
    for (size_t i = 0; good && i < embeds->count; i++)
        good = names_owner(&embeds->embed[i], source[0].key);
    return good;
}

void embed_sources_free(struct source *source, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_free(&source[i].link);
        orrery_json_free(source[i].definition);
    }
}

/* ---- wholes ---- */

static size_t *slot_of(const struct wholes *wholes, const char *name)
{
    size_t at = text_hash(name) % wholes->slots;

    while (wholes->slot[at] && strcmp(wholes->whole[wholes->slot[at] - 1]->name, name) != 0)
        at = (at + 1) % wholes->slots;
    return &wholes->slot[at];
}

static void grow(struct wholes *wholes)
{
    wholes->room = wholes->room ? 2 * wholes->room : 256;
    wholes->whole = must_resize(wholes->whole, wholes->room * sizeof(*wholes->whole));
    free(wholes->slot);
    wholes->slots = 2 * wholes->room;
    wholes->slot = must_alloc(wholes->slots * sizeof(*wholes->slot));
    for (size_t i = 0; i < wholes->count; i++)
        *slot_of(wholes, wholes->whole[i]->name) = i + 1;
}

struct whole *wholes_get(struct wholes *wholes, const char *name)
{
    struct whole *whole;
    size_t *slot;

    if (wholes->count == wholes->room)
        grow(wholes);
    slot = slot_of(wholes, name);
    if (*slot)
        return wholes->whole[*slot - 1];
    whole = must_alloc(sizeof(*whole));
    whole->name = must_copy(name, strlen(name));
    wholes->whole[wholes->count++] = whole;
    *slot = wholes->count;
    return whole;
}

void wholes_free(struct wholes *wholes)
{
    for (size_t i = 0; i < wholes->count; i++) {
        struct whole *whole = wholes->whole[i];

        for (size_t j = 0; j < whole->count; j++) {
            free(whole->part[j].name);
            free(whole->part[j].text);
        }
        free(whole->part);
        free(whole->name);
        free(whole->owner);
        free(whole->made);
        free(whole->kept);
        free(whole);
    }
    free(wholes->whole);
    free(wholes->slot);
    *wholes = (struct wholes){ 0 };
}

void whole_set(char **text, const char *value)
{
    free(*text);
    *text = value ? must_copy(value, strlen(value)) : NULL;
}

void whole_set_part(struct whole *whole, const char *name, const char *text)
{
    size_t at = 0;

    while (at < whole->count && strcmp(whole->part[at].name, name) != 0)
        at++;
    if (at < whole->count && !text) {
        free(whole->part[at].name);
        free(whole->part[at].text);
        memmove(&whole->part[at], &whole->part[at + 1], (--whole->count - at) * sizeof(*whole->part));
    } else if (at < whole->count) {
        whole_set(&whole->part[at].text, text);
    } else if (text) {
        if (whole->count == whole->room) {
            whole->room = whole->room ? 2 * whole->room : 4;
            whole->part = must_resize(whole->part, whole->room * sizeof(*whole->part));
        }
        whole->part[whole->count++] =
            (struct part){ must_copy(name, strlen(name)), must_copy(text, strlen(text)) };
    }
}

/* ---- whose part an item is ---- */

/* The name of the owner, as plan_identify() has it; false: the item names none. */
static bool name_owner(const struct embed *embed, orrery_value owner_key, orrery_value item, struct text *out)
{
    orrery_value id = plan_value_at(item, text_at(embed->on, "/id"));

    if (orrery_value_type(id) != ORRERY_STRING)
        return false;
    text_empty(out);
    text_byte(out, '[');
    plan_print_level(out, id);
    for (size_t i = 0; i < orrery_value_count(owner_key); i++) {
        const char *path = orrery_value_text(orrery_value_element(owner_key, i), NULL);

        text_byte(out, ',');
        plan_print_level(out, plan_value_at(item, text_at(embed->on, path)));
    }
    text_byte(out, ']');
    return true;
}

void embed_touch(const struct embeds *embeds, const struct source *source, size_t at,
                 const struct images *images, struct wholes *wholes)
{
    struct text name = { 0 };

    for (size_t i = 0; i < images->count; i++) {
        if (at == 0) {
            plan_identify(&name, source[0].key, images->image[i]);
            wholes_get(wholes, text_of(&name));
        }
        for (size_t e = 0; e < embeds->count; e++)
            if (strcmp(embeds->embed[e].from, source[at].id) == 0 &&
                name_owner(&embeds->embed[e], source[0].key, images->image[i], &name))
                wholes_get(wholes, text_of(&name));
    }
    text_free(&name);
}

/* ---- in their places ---- */

static void print_plain(struct text *to, orrery_value item)
{
    char *text = NULL;
    size_t size;

    if (orrery_value_print(item, &text, &size) == ORRERY_OK)
        members_without_system(to, text, size);
    orrery_free(text);
}

static void apply_owners(const struct source *source, const struct images *images, struct wholes *wholes)
{
    struct text name = { 0 }, text = { 0 };

    for (size_t i = 0; i < images->count; i++) {
        plan_identify(&name, source[0].key, images->image[i]);
        text_empty(&text);
        print_plain(&text, images->image[i]);
        whole_set(&wholes_get(wholes, text_of(&name))->owner, images->removes[i] ? NULL : text_of(&text));
    }
    text_free(&name);
    text_free(&text);
}

/* {"n":7,"e":[...]}; false: the query makes no element of it. */
static bool print_part(const struct embed *embed, orrery_value item, orrery_value rows, struct text *out)
{
    orrery_value row;
    bool first = true;

    text_empty(out);
    text_puts(out, "{\"n\":");
    plan_print_level(out, embed->order ? plan_value_at(item, embed->order) : (orrery_value){ 0 });
    text_puts(out, ",\"e\":[");
    if (!embed->mapping)
        print_plain(out, item);
    for (size_t at = 0; embed->mapping && orrery_value_next(rows, &at, NULL, &row); first = false) {
        char *text = NULL;

        if (orrery_value_print(row, &text, NULL) == ORRERY_OK)
            text_printf(out, "%s%s", first ? "" : ",", text);
        orrery_free(text);
    }
    text_puts(out, "]}");
    return !embed->mapping || !first;
}

static void apply_part(const struct embeds *embeds, size_t e, const struct source *source, size_t at,
                       orrery_value image, orrery_value rows, bool removes, struct wholes *wholes,
                       uint64_t *parts)
{
    const struct embed *embed = &embeds->embed[e];
    struct text owner = { 0 }, name = { 0 }, text = { 0 }, identity = { 0 };

    if (name_owner(embed, source[0].key, image, &owner)) {
        bool is_part = !removes && print_part(embed, image, rows, &text);

        plan_identify(&identity, source[at].key, image);
        text_printf(&name, "%s%s", embed->member, text_of(&identity));
        whole_set_part(wholes_get(wholes, text_of(&owner)), text_of(&name), is_part ? text_of(&text) : NULL);
        *parts += is_part;
    }
    text_free(&owner);
    text_free(&name);
    text_free(&text);
    text_free(&identity);
}

static bool apply_parts(const struct cli *cli, const struct embeds *embeds, size_t e,
                        const struct source *source, size_t at, const struct images *images,
                        struct wholes *wholes, uint64_t *parts)
{
    const char *mapping = embeds->embed[e].mapping;
    bool good = true;

    for (size_t from = 0; good && from < images->count; from += MAPPING_AT_A_TIME) {
        size_t left = images->count - from, count = left < MAPPING_AT_A_TIME ? left : MAPPING_AT_A_TIME;
        orrery_response *answer =
            mapping ? mapping_run(cli, text_of(&source[at].link), mapping, images->image + from, count)
                    : NULL;
        orrery_value rows = orrery_value_member(orrery_response_json(answer), "rows");

        good = answer || !mapping;
        for (size_t i = 0; good && i < count; i++)
            apply_part(embeds, e, source, at, images->image[from + i], orrery_value_element(rows, i),
                       images->removes[from + i], wholes, parts);
        orrery_response_free(answer);
    }
    return good;
}

bool embed_apply(const struct cli *cli, const struct embeds *embeds, const struct source *source, size_t at,
                 const struct images *images, struct wholes *wholes, uint64_t *parts)
{
    bool good = true;

    if (at == 0)
        apply_owners(source, images, wholes);
    for (size_t e = 0; good && e < embeds->count; e++)
        if (strcmp(embeds->embed[e].from, source[at].id) == 0)
            good = apply_parts(cli, embeds, e, source, at, images, wholes, parts);
    return good;
}

/* ---- joined ---- */

struct sorted {
    const struct part *part;
    orrery_json *json;
};

static int by_order(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    orrery_value n = orrery_value_member(orrery_json_root(x->json), "n");
    orrery_value m = orrery_value_member(orrery_json_root(y->json), "n");
    int order = 0;

    if (orrery_value_type(n) != orrery_value_type(m))
        order = orrery_value_type(n) < orrery_value_type(m) ? -1 : 1;
    else if (orrery_value_type(n) == ORRERY_NUMBER && orrery_value_number(n) != orrery_value_number(m))
        order = orrery_value_number(n) < orrery_value_number(m) ? -1 : 1;
    else if (orrery_value_type(n) == ORRERY_STRING)
        order = strcmp(orrery_value_text(n, NULL), orrery_value_text(m, NULL));
    return order ? order : strcmp(x->part->name, y->part->name);
}

/* Elements of all parts that are of this member, with commas between. */
static size_t print_elements(const struct embed *embed, const struct whole *whole, struct text *out)
{
    struct sorted *sorted = must_alloc((whole->count + 1) * sizeof(*sorted));
    size_t size = strlen(embed->member), count = 0, elements = 0;

    for (size_t i = 0; i < whole->count; i++) {
        const struct part *part = &whole->part[i];

        if (strncmp(part->name, embed->member, size) == 0 && part->name[size] == '[' &&
            orrery_json_parse(part->text, ORRERY_TEXT, &sorted[count].json) == ORRERY_OK)
            sorted[count++].part = part;
    }
    qsort(sorted, count, sizeof(*sorted), by_order);
    for (size_t i = 0; i < count; i++) {
        orrery_value list = orrery_value_member(orrery_json_root(sorted[i].json), "e"), one;

        for (size_t at = 0; orrery_value_next(list, &at, NULL, &one); elements++) {
            char *text = NULL;

            if (orrery_value_print(one, &text, NULL) == ORRERY_OK)
                text_printf(out, "%s%s", elements ? "," : "", text);
            orrery_free(text);
        }
        orrery_json_free(sorted[i].json);
    }
    free(sorted);
    return elements;
}

static bool has_member(const struct whole *whole, const char *name)
{
    orrery_json *owner = NULL;
    bool has = orrery_json_parse(whole->owner, ORRERY_TEXT, &owner) == ORRERY_OK &&
               orrery_value_type(orrery_value_member(orrery_json_root(owner), name)) != ORRERY_UNDEFINED;

    orrery_json_free(owner);
    return has;
}

static bool join_one(const struct embed *embed, const struct whole *whole, struct text *item)
{
    struct text elements = { 0 };
    size_t count = print_elements(embed, whole, &elements);
    bool good = !embed->single || count <= 1;

    if (!good)
        tell("%s has %zu items of '%s', and the plan has room for a single one", whole->name, count,
             embed->from);
    if (good && (!embed->single || count == 1)) {
        text_byte(item, ',');
        text_json(item, embed->member, strlen(embed->member));
        text_printf(item, embed->single ? ":%s" : ":[%s]", text_of(&elements));
    }
    text_free(&elements);
    return good;
}

bool embed_join(const struct embeds *embeds, const struct whole *whole, struct text *item)
{
    bool good = true;

    text_empty(item);
    text_puts(item, whole->owner);
    item->size--; /* the brace; an item has an id, so that a comma may follow */
    for (size_t i = 0; good && i < embeds->count; i++) {
        const struct embed *embed = &embeds->embed[i];

        /* An item of this container that owns nothing may be a part itself, and have whatever members. */
        if (!has_member(whole, embed->member)) {
            good = join_one(embed, whole, item);
            continue;
        }
        if (whole->count == 0)
            continue;
        tell("%s has a member '%s' already", whole->name, embed->member);
        good = false;
    }
    text_byte(item, '}');
    return good;
}
