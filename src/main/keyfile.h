/*
 * src/main/keyfile.h - the account's keys: where they come from, and the file they may lie in.
 * A key file has a line for each key: its name and its base64 (auth_key_names). We replace the file whole, but an
 * editor may write into it. Then we could see half of the file, and half of a key may look like a key. So a changed
 * file is read only when two looks at it saw the same, and a file that changes while it is read is refused. A file
 * that others may read or write is refused too, because its keys open everything.
 */
#pragma once
#include <sys/stat.h>

#include "auth/auth.h"
#include "main/settings.h"

/* Base64, empty where there is none; in the order of enum auth_key. Wipe it when done. */
struct key_texts {
    char text[AUTH_KEYS_MAX][AUTH_KEY_TEXT_MAX + 1];
};

/* Which version of a file was read; all zero for a file that could not be read. */
struct keyfile_stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed, written;
};

enum status keyfile_read(struct op *op, const char *path, struct key_texts *keys,
                         struct keyfile_stamp *stamp);

/*
 * What keyfile_look() compares: the version of the file whose keys are in use, and the version that the last look
 * saw.
 */
struct keyfile_watch {
    struct keyfile_stamp used, seen;
};

/*
 * Whether the file has another version than the one in use, and nobody is writing it: the look before saw the same
 * version. Looks must be further apart than the ticks of a file system's clock, which are some milliseconds.
 */
bool keyfile_look(const char *path, struct keyfile_watch *watch);

/* Gives one key a new value, and writes it to `text`. The file is made when it is missing. */
enum status keyfile_rotate(struct op *op, const char *path, enum auth_key which,
                           char text[AUTH_KEY_TEXT_MAX + 1]);

/*
 * Reads the keys that the settings name. --key is the primary key, and a key file may have the others or all. Without
 * either, the primary is the emulator's well-known key, which needs --allow-emulator-key beyond loopback.
 */
enum status keys_read(struct op *op, const struct settings *settings, struct key_texts *keys,
                      struct keyfile_stamp *stamp);

/* As auth_open() and auth_replace() take them. */
void keys_list(const struct key_texts *keys, const char *list[AUTH_KEYS_MAX]);

bool keys_are_well_known(const struct key_texts *keys);
