/*
 * cli/connect.h - the client of a command, how its failures are told, and Ctrl-C.
 * Threads. There is one. The signal handler sets a flag, and whoever works for long looks at it.
 */
#pragma once
#include <orrery.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"

struct cli {
    const struct options *options;
    orrery_client *client;
    bool colours; /* on standard error */
};

/* False: it was told why not. */
bool cli_open(struct cli *cli, const struct options *options);
void cli_close(struct cli *cli);

/* Tells a failure of the client's last call. `sql`, if it is not NULL, is the text that the service's error may point into. */
void cli_tell(const struct cli *cli, orrery_status status, const char *sql);

/* A mistake of ours or of the user's: one line on standard error, "orrery: ...". */
__attribute__((format(printf, 1, 2))) void tell(const char *fmt, ...);

/* Ctrl-C was pressed since the last interrupt_clear(). Before interrupt_catch() it ends the program. */
bool interrupted(void);
void interrupt_catch(void);
void interrupt_clear(void);

/* As orrery_query_step() of a cursor that must not wait, and waits; ORRERY_ECANCELED: Ctrl-C. */
orrery_status cursor_step(orrery_client *client, orrery_query *query);

int64_t clock_us(void); /* since whenever */

/* A partition key as people write it: JSON, an array of levels, or else a text. False: it is no key. */
struct key {
    orrery_key key, level[3];
    orrery_json *json; /* what the key's texts lie in */
};
bool key_read(struct key *key, const char *text);
bool key_from_value(struct key *key,
                    orrery_value value);             /* of a text, number, bool, null, or array of them */
bool key_level(orrery_key *key, orrery_value value); /* one level; of nothing: none */
void key_free(struct key *key);
