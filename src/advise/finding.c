/* src/advise/finding.c - findings as JSON. */
#include <math.h>

#include "advise/finding.h"
#include "reply/charge.h"

const char *const severity_names[] = { "high", "medium", "low" };

static void add_text(struct json_builder *out, const char *name, struct slice text)
{
    json_add_name(out, slice_of(name));
    json_add_string(out, text);
}

static void add_path(struct op *op, struct json_builder *out, const struct node *node)
{
    struct buf path;

    buf_init(&path, &op->arena);
    node_print_path(&path, node);
    add_text(out, "path", buf_as_slice(&path));
}

void finding_begin(struct op *op, struct finding_writer *writer, const struct rule *rule,
                   enum severity severity, struct finding_place place)
{
    struct json_builder *out = &writer->out;

    writer->rule = rule;
    writer->severity = severity;
    writer->plan = json_undefined;
    json_builder_init(out, &op->arena);
    json_begin_object(out);
    add_text(out, "rule", slice_of(rule->id));
    add_text(out, "severity", slice_of(severity_names[severity]));
    add_text(out, "title", slice_of(rule->title));
    add_text(out, "container", place.look->container->link);
    if (place.tree && place.tree->type.data)
        add_text(out, "type", place.tree->type);
    if (place.node)
        add_path(op, out, place.node);
    else if (place.path.data)
        add_text(out, "path", place.path);
    json_add_name(out, slice_of("evidence"));
    json_begin_object(out);
}

void finding_number(struct finding_writer *writer, const char *name, uint64_t number)
{
    json_add_name(&writer->out, slice_of(name));
    json_add_int(&writer->out, (int64_t)number);
}

void finding_share(struct finding_writer *writer, const char *name, double share)
{
    json_add_name(&writer->out, slice_of(name));
    json_add_double(&writer->out, round(share * 1000) / 1000);
}

void finding_units(struct finding_writer *writer, const char *name, double units)
{
    json_add_name(&writer->out, slice_of(name));
    json_add_double(&writer->out, round(units * 100) / 100);
}

void finding_text(struct finding_writer *writer, const char *name, struct slice text)
{
    add_text(&writer->out, name, text);
}

void finding_ids(struct finding_writer *writer, const char *name, const struct slice *id, size_t count)
{
    json_add_name(&writer->out, slice_of(name));
    json_begin_array(&writer->out);
    for (size_t i = 0; i < count; i++)
        json_add_string(&writer->out, id[i]);
    json_end(&writer->out);
}

enum status finding_plan(struct op *op, struct finding_writer *writer, const struct container *container,
                         struct slice members)
{
    struct buf text;

    buf_init(&text, &op->arena);
    buf_text(&text, "{\"database\":");
    json_print_string(&text, container->database->link);
    buf_text(&text, ",\"containers\":[{\"id\":");
    json_print_string(&text, container->id);
    buf_byte(&text, ',');
    buf_slice(&text, members);
    buf_text(&text, "}]}");
    if (text.failed)
        return op_fail_as(op, ST_TOO_LARGE);
    return json_parse(op, buf_as_slice(&text), &writer->plan);
}

/* A replace removes one version and writes another. */
static double charge_of_replace(uint64_t bytes)
{
    struct work work = { 0 };

    work_removed(&work, bytes);
    work_wrote(&work, bytes);
    return charge_of(&work);
}

static void add_cost(struct json_builder *out, uint64_t rewritten_bytes)
{
    json_add_name(out, slice_of("cost"));
    json_begin_object(out);
    json_add_name(out, slice_of("bytesRewritten"));
    json_add_int(out, (int64_t)rewritten_bytes);
    json_add_name(out, slice_of("requestUnitsOfAReplace"));
    json_add_double(out, round(charge_of_replace(rewritten_bytes) * 100) / 100);
    json_end(out);
}

enum status finding_end(struct op *op, struct advice *advice, struct finding_writer *writer,
                        uint64_t rewritten_bytes, const char *what_to_do)
{
    struct finding finding = { .rule = writer->rule, .severity = writer->severity, .order = advice->count };

    json_end(&writer->out); /* the evidence */
    if (rewritten_bytes)
        add_cost(&writer->out, rewritten_bytes);
    add_text(&writer->out, "advice", slice_of(what_to_do));
    if (json_kind(writer->plan) != JSON_UNDEFINED) {
        json_add_name(&writer->out, slice_of("plan"));
        json_add(&writer->out, writer->plan);
    }
    json_end(&writer->out);
    finding.body = json_built(&writer->out);
    if (json_kind(finding.body) == JSON_UNDEFINED ||
        !arena_list_reserve(&op->arena, &advice->finding, &advice->capacity, advice->count + 1,
                            sizeof(*advice->finding)))
        return op_fail_as(op, ST_TOO_LARGE);
    advice->finding[advice->count++] = finding;
    return ST_OK;
}
