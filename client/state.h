/*
 * client/state.h - resolvers as JSON: the pieces that each of them writes, and how they are read back.
 * The names are those of the .NET SDK's own objects, so that its saved ones can be read; what it did not save
 * (which hash, what type the keys are) has names beside them.
 */
#pragma once
#include "resolver.h"

enum { STATE_VERSION = 1, STATE_DEPTH_MAX = 8, STATE_BYTES_MAX = 16 * 1024 * 1024 };

struct state_writer {
    struct arena arena;
    struct buf out;
    orrery_status status; /* the first thing that went wrong */
};

void state_begin(struct state_writer *writer, const char *type);
void state_name(struct state_writer *writer, const char *name); /* and the comma in front of it */
void state_text(struct state_writer *writer, const char *name, struct slice text);
void state_number(struct state_writer *writer, const char *name, int64_t number);
void state_bool(struct state_writer *writer, const char *name, bool value);
void state_extractor(struct state_writer *writer, const orrery_extractor *extractor);

/* A key; as any: with its type where JSON has no such values. */
void state_key(struct state_writer *writer, const char *name, const orrery_key *key, bool as_any);
void state_resolver(struct state_writer *writer, const char *name, orrery_resolver *resolver);

/* What collections that a resolver makes look like, and back; its memory is the arena's. */
void state_shape(struct state_writer *writer, const char *name, const orrery_template *shape);
orrery_status state_shape_of(struct arena *arena, struct json state, orrery_template *shape);

/* Frees the writer. The text is malloc'ed. */
orrery_status state_end(struct state_writer *writer, char **json);

/* From state that was parsed already. */
orrery_status resolver_load_json(struct json state, const orrery_load_options *options,
                                 orrery_resolver **resolver);

/* "Number", "Text", "Time", "Boolean", "Guid", "Tuple"; NULL for other types. And back: ORRERY_KEY_NONE for other texts. */
const char *state_type_name(orrery_key_type type);
orrery_key_type state_type_of(struct slice name);
extern const char state_any_type[]; /* of ranges whose ends are of several */

/* "ReadBoth", "ReadCurrent", "ReadNext", "None". */
const char *state_mode_name(orrery_read_mode mode);
bool state_mode_of(struct slice name, orrery_read_mode *mode);
