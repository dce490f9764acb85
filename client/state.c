/* client/state.c - writing a resolver's state. */
#include <stdlib.h>

#include "state.h"

void state_begin(struct state_writer *writer, const char *type)
{
    *writer = (struct state_writer){ .status = ORRERY_OK };
    arena_init(&writer->arena, 2 * STATE_BYTES_MAX);
    buf_init(&writer->out, &writer->arena);
    buf_printf(&writer->out, "{\"Type\":\"%s\",\"Version\":%d", type, STATE_VERSION);
}

void state_name(struct state_writer *writer, const char *name)
{
    buf_printf(&writer->out, ",\"%s\":", name);
}

void state_text(struct state_writer *writer, const char *name, struct slice text)
{
    state_name(writer, name);
    json_print_string(&writer->out, text);
}

void state_number(struct state_writer *writer, const char *name, int64_t number)
{
    state_name(writer, name);
    buf_printf(&writer->out, "%lld", (long long)number);
}

void state_bool(struct state_writer *writer, const char *name, bool value)
{
    state_name(writer, name);
    buf_text(&writer->out, value ? "true" : "false");
}

void state_extractor(struct state_writer *writer, const orrery_extractor *extractor)
{
    if (extractor->extract) { /* a function cannot be written down, but its name can */
        if (extractor->name)
            state_text(writer, "PartitionKeyFunction", slice_of(extractor->name));
        else
            writer->status = ORRERY_ESTATE;
        return;
    }
    if (extractor->as != ORRERY_KEY_NONE)
        state_text(writer, "PartitionKeyType", slice_of(state_type_name(extractor->as)));
    if (extractor->property) {
        state_text(writer, "PartitionKeyPropertyName", slice_of(extractor->property));
        return;
    }
    state_text(writer, "PartitionKeySeparator", slice_of(extractor->separator));
    state_name(writer, "PartitionKeyPropertyNames");
    for (size_t i = 0; i < extractor->property_count; i++) {
        buf_byte(&writer->out, i ? ',' : '[');
        json_print_string(&writer->out, slice_of(extractor->properties[i]));
    }
    buf_byte(&writer->out, ']');
}

/* Values that JSON has stand for themselves, {"Time":...} and {"Guid":...} for the others, an array for a tuple. */
static void print_any(struct buf *out, const orrery_key *key)
{
    switch (key->type) {
    case ORRERY_KEY_TIME:
        buf_printf(out, "{\"Time\":%lld}", (long long)key->number);
        return;
    case ORRERY_KEY_GUID:
        buf_text(out, "{\"Guid\":");
        json_print_string(out, slice_make(key->text, key->size));
        buf_byte(out, '}');
        return;
    case ORRERY_KEY_TEXT:
        json_print_string(out, slice_make(key->text, key->size));
        return;
    case ORRERY_KEY_BOOL:
        buf_text(out, key->number != 0 ? "true" : "false");
        return;
    case ORRERY_KEY_NUMBER:
        if (key->is_integer)
            buf_printf(out, "%lld", (long long)key->integer);
        else
            json_print_double(out, key->number);
        return;
    case ORRERY_KEY_TUPLE:
        buf_byte(out, '[');
        for (size_t i = 0; i < key->count; i++) {
            buf_text(out, i ? "," : "");
            print_any(out, &key->items[i]);
        }
        buf_byte(out, ']');
        return;
    default:
        buf_text(out, "null");
    }
}

/* A time as a date, and one that has none as its milliseconds. */
static void print_time(struct buf *out, const orrery_key *key)
{
    char time[TIME_TEXT_MAX];
    size_t size = time_print((int64_t)key->number, time);

    if (size)
        json_print_string(out, slice_make(time, size));
    else
        json_print_double(out, key->number);
}

void state_key(struct state_writer *writer, const char *name, const orrery_key *key, bool as_any)
{
    state_name(writer, name);
    if (!as_any && key->type == ORRERY_KEY_TIME)
        print_time(&writer->out, key);
    else if (!as_any && key->type == ORRERY_KEY_GUID)
        json_print_string(&writer->out, slice_make(key->text, key->size));
    else
        print_any(&writer->out, key);
}

void state_resolver(struct state_writer *writer, const char *name, orrery_resolver *resolver)
{
    char *json = NULL;
    orrery_status status = orrery_resolver_save(resolver, &json);

    state_name(writer, name);
    if (status == ORRERY_OK)
        buf_text(&writer->out, json);
    else if (writer->status == ORRERY_OK)
        writer->status = status;
    allocator_free(json);
}

orrery_status state_end(struct state_writer *writer, char **json)
{
    orrery_status status = writer->status;

    *json = NULL;
    buf_append(&writer->out, "}", 2); /* the NUL with it */
    if (status == ORRERY_OK && writer->out.failed)
        status = ORRERY_ENOMEM;
    if (status == ORRERY_OK) {
        *json = allocator_get(writer->out.size);
        if (*json)
            memcpy(*json, writer->out.data, writer->out.size);
        else
            status = ORRERY_ENOMEM;
    }
    arena_free(&writer->arena);
    return status;
}

orrery_status orrery_resolver_save(orrery_resolver *resolver, char **json)
{
    if (!json)
        return ORRERY_EINVAL;
    *json = NULL;
    if (!resolver)
        return ORRERY_EINVAL;
    return resolver->calls.save ? resolver->calls.save(resolver->self, json) : ORRERY_ESTATE;
}

static const struct {
    const char *name;
    orrery_key_type type;
} types[] = { { "Number", ORRERY_KEY_NUMBER }, { "Text", ORRERY_KEY_TEXT }, { "Time", ORRERY_KEY_TIME },
              { "Boolean", ORRERY_KEY_BOOL },  { "Guid", ORRERY_KEY_GUID }, { "Tuple", ORRERY_KEY_TUPLE } };

const char state_any_type[] = "Any";

const char *state_type_name(orrery_key_type type)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (types[i].type == type)
            return types[i].name;
    return NULL;
}

orrery_key_type state_type_of(struct slice name)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (slice_is(name, types[i].name))
            return types[i].type;
    return ORRERY_KEY_NONE;
}

static const char *const modes[] = { [ORRERY_READ_BOTH] = "ReadBoth",
                                     [ORRERY_READ_CURRENT] = "ReadCurrent",
                                     [ORRERY_READ_NEXT] = "ReadNext",
                                     [ORRERY_READ_NONE] = "None" };

const char *state_mode_name(orrery_read_mode mode)
{
    return modes[mode];
}

bool state_mode_of(struct slice name, orrery_read_mode *mode)
{
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (slice_is(name, modes[i])) {
            *mode = (orrery_read_mode)i;
            return true;
        }
    return false;
}
