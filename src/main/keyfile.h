/*
 * src/main/keyfile.h - the account's keys: where they come from, and the file they may lie in.
 * A key file has a line for each key, its name and its base64 (auth_key_names), and is replaced
 * whole: whoever reads it sees the old keys or the new ones. What others may read or write is
 * refused, since its keys open everything.
 */
#pragma once
#include <sys/stat.h>

#include "auth/auth.h"
#include "main/settings.h"

/* Base64, empty where there is none; in the order of enum auth_key. Wipe it when done. */
struct key_texts {
    char text[AUTH_KEYS_MAX][AUTH_KEY_TEXT_MAX + 1];
};

/* Which version of a file was read; all zero for one that could not be. */
struct keyfile_stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed, written;
};

enum status keyfile_read(struct op *op, const char *path, struct key_texts *keys,
                         struct keyfile_stamp *stamp);
bool keyfile_has_changed(const char *path, const struct keyfile_stamp *stamp);

/* Gives one key a new value, in a file that is made when missing. Tells the new one. */
enum status keyfile_rotate(struct op *op, const char *path, enum auth_key which,
                           char text[AUTH_KEY_TEXT_MAX + 1]);

/*
 * The keys that the settings mean: --key is the primary, a key file may have the others or all; without
 * either it is the emulator's well-known key, which beyond loopback needs --allow-emulator-key.
 */
enum status keys_read(struct op *op, const struct settings *settings, struct key_texts *keys,
                      struct keyfile_stamp *stamp);

/* As auth_open() and auth_replace() take them. */
void keys_list(const struct key_texts *keys, const char *list[AUTH_KEYS_MAX]);

bool keys_are_well_known(const struct key_texts *keys);
