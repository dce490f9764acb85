/*
 * src/main/keyfile.h - the account's keys: where they come from, and the file they may lie in.
 * A key file has a line for each key: its name and its base64 (auth_key_names). It is a watched file (watched.h), and
 * refused when others may read or write it, because its keys open everything.
 */
#pragma once
#include "auth/auth.h"
#include "main/settings.h"
#include "main/watched.h"

/* Base64, empty where there is none; in the order of enum auth_key. Wipe it when done. */
struct key_texts {
    char text[AUTH_KEYS_MAX][AUTH_KEY_TEXT_MAX + 1];
};

enum status keyfile_read(struct op *op, const char *path, struct key_texts *keys, struct file_stamp *stamp);

/* Gives one key a new value, and writes it to `text`. The file is made when it is missing. */
enum status keyfile_rotate(struct op *op, const char *path, enum auth_key which,
                           char text[AUTH_KEY_TEXT_MAX + 1]);

/*
 * Reads the keys that the settings name. --key is the primary key, and a key file may have the others or all. Without
 * either, the primary is the emulator's well-known key, which needs --allow-emulator-key beyond loopback.
 */
enum status keys_read(struct op *op, const struct settings *settings, struct key_texts *keys,
                      struct file_stamp *stamp);

/* As auth_open() and auth_replace() take them. */
void keys_list(const struct key_texts *keys, const char *list[AUTH_KEYS_MAX]);

bool keys_are_well_known(const struct key_texts *keys);
