/*
 * src/main/emulator.h - `serve --emulator`: this server in the place of the Cosmos DB emulators.
 * What integrations tell those emulators by flags and variables becomes settings of ours; what means nothing here is
 * passed over, and the log says so. docs/emulator.md has the whole contract.
 *
 * Ownership. Texts that are made here last as long as the program.
 * Threads. One, at the start.
 */
#pragma once
#include "main/settings.h"

enum { EMULATOR_WORDS_MAX = 256 };

/* Whether --emulator is among the words, or ORRERY_EMULATOR is set. */
bool emulator_is_wanted(int argc, char **argv, int from);

/*
 * Reads the emulators' variables and their flags. The words that are ours are left in `words`, of which there are
 * `*count`, for settings_read() to go on with. False after telling standard error what is wrong.
 */
bool emulator_read(struct settings *settings, int argc, char **argv, int from,
                   char *words[EMULATOR_WORDS_MAX], int *count);

/* When our own flags have been read: fills in what nobody has said. */
bool emulator_settle(struct settings *settings);

/* Tells the log what was passed over. */
void emulator_log(void);

/* Tells those who wait for an emulator's own words that the server is ready: `address` is where it listens. */
void emulator_announce(const char *address);

/* Leaves a copy of the certificate where the old Linux image has it, if that directory is there and ours. */
void emulator_leave_certificate(const char *certificate_file);
