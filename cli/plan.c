/* cli/plan.c - reads a plan, and what it makes of a definition. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connect.h"
#include "plan.h"

enum { PLAN_BYTES_MAX = 1024 * 1024 };

static const char *const policies[] = { "partitionKey",          "indexingPolicy",  "computedProperties",
                                        "vectorEmbeddingPolicy", "fullTextPolicy",  "defaultTtl",
                                        "geospatialConfig",      "uniqueKeyPolicy", "changeFeedPolicy" };

void plan_define(struct text *to, const char *id, orrery_value definition, orrery_value plan)
{
    text_puts(to, "{\"id\":");
    text_json(to, id, strlen(id));
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        orrery_value value = orrery_value_member(plan, policies[i]);
        char *text = NULL;

        if (orrery_value_type(value) == ORRERY_UNDEFINED)
            value = orrery_value_member(definition, policies[i]);
        if (orrery_value_type(value) == ORRERY_UNDEFINED ||
            orrery_value_print(value, &text, NULL) != ORRERY_OK)
            continue;
        text_printf(to, ",\"%s\":%s", policies[i], text);
        orrery_free(text);
    }
    text_byte(to, '}');
}

orrery_value plan_value_at(orrery_value item, const char *path)
{
    while (*path == '/' && orrery_value_type(item) == ORRERY_OBJECT) {
        size_t size = strcspn(path + 1, "/");
        char *name = must_copy(path + 1, size);

        item = orrery_value_member(item, name);
        free(name);
        path += 1 + size;
    }
    return *path ? (orrery_value){ 0 } : item;
}

void plan_print_level(struct text *out, orrery_value value)
{
    char *text = NULL;

    if (orrery_value_type(value) == ORRERY_UNDEFINED || orrery_value_print(value, &text, NULL) != ORRERY_OK)
        text_puts(out, "{}");
    else
        text_puts(out, text);
    orrery_free(text);
}

void plan_identify(struct text *out, orrery_value paths, orrery_value item)
{
    text_empty(out);
    text_byte(out, '[');
    plan_print_level(out, orrery_value_member(item, "id"));
    for (size_t i = 0; i < orrery_value_count(paths); i++) {
        text_byte(out, ',');
        plan_print_level(out, plan_value_at(item, orrery_value_text(orrery_value_element(paths, i), NULL)));
    }
    text_byte(out, ']');
}

const char *plan_mapping(orrery_value plan)
{
    orrery_value mapping = orrery_value_member(plan, "items");

    return orrery_value_type(mapping) == ORRERY_STRING ? orrery_value_text(mapping, NULL) : NULL;
}

/* {"containers":[{"id":"orders",...}]} */
static bool is_plan(orrery_value plan)
{
    orrery_value containers = orrery_value_member(plan, "containers"), one;

    for (size_t at = 0; orrery_value_next(containers, &at, NULL, &one);)
        if (orrery_value_type(orrery_value_member(one, "id")) != ORRERY_STRING)
            return false;
    return orrery_value_type(containers) == ORRERY_ARRAY && orrery_value_count(containers) > 0;
}

orrery_json *plan_read(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = must_alloc(PLAN_BYTES_MAX);
    orrery_json *plan = NULL;

    if (!file)
        tell("cannot read %s: %s", path, strerror(errno));
    else if (orrery_json_parse(text, fread(text, 1, PLAN_BYTES_MAX, file), &plan) != ORRERY_OK ||
             !is_plan(orrery_json_root(plan)))
        tell("%s is no plan: {\"containers\":[{\"id\":\"orders\",\"partitionKey\":{...}}]}", path);
    if (file)
        fclose(file);
    free(text);
    if (plan && !is_plan(orrery_json_root(plan))) {
        orrery_json_free(plan);
        plan = NULL;
    }
    return plan;
}
