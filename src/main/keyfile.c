/* src/main/keyfile.c - the account's keys, and the file they may lie in. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/encode.h"
#include "main/directory.h"
#include "main/keyfile.h"

static const struct watched_kind key_file = { "key file", 4096, true };

/* A key of fewer bytes than the signature's hash has can be guessed: whoever has seen one signed request may try. */
enum { KEY_BYTES_MIN = 32 };

/* --- reading --- */

static bool find_name(struct slice name, size_t *which)
{
    for (*which = 0; *which < AUTH_KEYS_MAX; (*which)++)
        if (slice_is(name, auth_key_names[*which]))
            return true;
    return false;
}

static bool is_key(struct slice text)
{
    uint8_t bytes[AUTH_KEY_BYTES_MAX];
    size_t size;
    bool is_base64 = base64_decode(text, bytes, sizeof(bytes), &size) && size >= KEY_BYTES_MIN;

    explicit_bzero(bytes, sizeof(bytes));
    return is_base64;
}

/* The texts of refusals never hold a key, because they end up in logs. */
static enum status read_line(struct op *op, const char *path, int number, struct slice line,
                             struct key_texts *keys)
{
    size_t name_size = 0, which;
    struct slice value;

    while (name_size < line.size && line.data[name_size] != ' ' && line.data[name_size] != '\t')
        name_size++;
    value = slice_trim(slice_after(line, name_size));
    if (!find_name(slice_make(line.data, name_size), &which))
        return op_fail(op, ST_BAD_REQUEST,
                       "the key file %s, line %d: a line is the name of a key (primary, secondary, "
                       "primaryReadonly or secondaryReadonly) and its base64",
                       path, number);
    if (keys->text[which][0])
        return op_fail(op, ST_BAD_REQUEST, "the key file %s has two keys named %s", path,
                       auth_key_names[which]);
    if (!is_key(value))
        return op_fail(op, ST_BAD_REQUEST, "the key file %s, line %d: a key must be base64 of %d to %d bytes",
                       path, number, KEY_BYTES_MIN, AUTH_KEY_BYTES_MAX);
    assert(value.size <= AUTH_KEY_TEXT_MAX); /* which is what AUTH_KEY_BYTES_MAX are in base64 */
    memcpy(keys->text[which], value.data, value.size);
    return ST_OK;
}

static enum status read_lines(struct op *op, const char *path, struct slice text, struct key_texts *keys)
{
    int number = 0;
    enum status st = ST_OK;

    while (text.size) {
        const char *end = memchr(text.data, '\n', text.size);
        size_t size = end ? (size_t)(end - text.data) : text.size;
        bool has_return = size && text.data[size - 1] == '\r'; /* some editors' line ends */
        struct slice line = slice_trim(slice_make(text.data, size - has_return));

        number++;
        if (line.size)
            TRY(read_line(op, path, number, line, keys));
        text = slice_after(text, end ? size + 1 : size);
    }
out:
    return st;
}

static bool has_any(const struct key_texts *keys)
{
    bool any = false;

    for (size_t i = 0; i < AUTH_KEYS_MAX; i++)
        any |= keys->text[i][0] != '\0';
    return any;
}

enum status keyfile_read(struct op *op, const char *path, struct key_texts *keys, struct file_stamp *stamp)
{
    struct slice text;
    enum status st;

    *keys = (struct key_texts){ 0 };
    TRY(watched_read(op, path, &key_file, &text, stamp));
    TRY(read_lines(op, path, text, keys));
    if (!has_any(keys))
        TRY(op_fail(op, ST_BAD_REQUEST, "the key file %s has no key", path));
out:
    explicit_bzero((char *)text.data, text.size);
    return st;
}

/* --- rotating --- */

static void make_key(struct op *op, char text[AUTH_KEY_TEXT_MAX + 1])
{
    uint8_t bytes[AUTH_KEY_BYTES];
    struct buf base64;

    env_secret(op->env, bytes, sizeof(bytes));
    buf_init(&base64, &op->arena);
    base64_encode(&base64, slice_make(bytes, sizeof(bytes)));
    assert(base64.size <= AUTH_KEY_TEXT_MAX);
    memcpy(text, base64.data, base64.size);
    text[base64.size] = '\0';
    explicit_bzero(base64.data, base64.size);
    explicit_bzero(bytes, sizeof(bytes));
}

/*
 * Opens FILE.new and locks it. The process that held the lock before may have renamed the file meanwhile; then
 * what is open here is the key file itself, which its inode shows.
 */
static enum status open_fresh(struct op *op, const char *fresh, int *file)
{
    struct stat opened, named;

    *file = open(fresh, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*file < 0)
        return op_fail(op, ST_UNAVAILABLE, "cannot write %s: %s", fresh, strerror(errno));
    if (flock(*file, LOCK_EX | LOCK_NB) != 0 || fstat(*file, &opened) != 0 || stat(fresh, &named) != 0 ||
        opened.st_ino != named.st_ino)
        return op_fail(op, ST_UNAVAILABLE, "another key is being rotated in %s: try again", fresh);
    return ST_OK;
}

/* The server may run as another user than the one who rotates keys, so the file keeps its owner and mode. */
static bool keep_owner(const char *path, int file)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return fchmod(file, 0600) == 0;
    return fchown(file, info.st_uid, info.st_gid) == 0 && fchmod(file, info.st_mode & 0777) == 0;
}

static bool write_keys(int file, const struct key_texts *keys)
{
    bool written = ftruncate(file, 0) == 0;

    for (size_t i = 0; i < AUTH_KEYS_MAX && written; i++)
        if (keys->text[i][0])
            written = dprintf(file, "%s %s\n", auth_key_names[i], keys->text[i]) > 0;
    return written && fsync(file) == 0;
}

static enum status replace_file(struct op *op, const char *path, const char *fresh, int file,
                                const struct key_texts *keys)
{
    if (keep_owner(path, file) && write_keys(file, keys) && rename(fresh, path) == 0 &&
        directory_sync_parent(path))
        return ST_OK;
    return op_fail(op, ST_UNAVAILABLE, "cannot write %s: %s", fresh, strerror(errno));
}

enum status keyfile_rotate(struct op *op, const char *path, enum auth_key which,
                           char text[AUTH_KEY_TEXT_MAX + 1])
{
    struct key_texts keys = { 0 };
    struct file_stamp stamp;
    bool is_ours = false;
    struct buf fresh;
    int file = -1;
    enum status st;

    assert(which < AUTH_KEYS_MAX);
    buf_init(&fresh, &op->arena);
    buf_printf(&fresh, "%s.new", path);
    buf_byte(&fresh, '\0');
    TRY(open_fresh(op, fresh.data, &file));
    is_ours = true;
    if (access(path, F_OK) == 0) /* read under the lock: another rotation may just have ended */
        TRY(keyfile_read(op, path, &keys, &stamp));
    make_key(op, keys.text[which]);
    TRY(replace_file(op, path, fresh.data, file, &keys));
    memcpy(text, keys.text[which], sizeof(keys.text[which]));
out:
    explicit_bzero(&keys, sizeof(keys));
    if (st != ST_OK && is_ours)
        unlink(fresh.data);
    if (file >= 0)
        close(file);
    return st;
}

/* --- the keys that the settings mean --- */

static enum status set_primary(struct op *op, const char *text, struct key_texts *keys)
{
    if (keys->text[AUTH_PRIMARY][0])
        return op_fail(op, ST_BAD_REQUEST,
                       "there are two primary keys: leave --key out, or that line of the key file");
    if (!is_key(slice_of(text)))
        return op_fail(op, ST_BAD_REQUEST, "--key: a key must be base64 of %d to %d bytes", KEY_BYTES_MIN,
                       AUTH_KEY_BYTES_MAX);
    assert(strlen(text) <= AUTH_KEY_TEXT_MAX);
    memcpy(keys->text[AUTH_PRIMARY], text, strlen(text) + 1);
    return ST_OK;
}

/* The well-known key protects nothing. It is for loopback, or for operators who allow it by a flag. */
static enum status check_well_known(struct op *op, const struct settings *settings,
                                    const struct key_texts *keys)
{
    if (!keys_are_well_known(keys) || settings->allow_emulator_key ||
        settings_only_loopback(&settings->listen))
        return ST_OK;
    return op_fail(op, ST_FORBIDDEN,
                   "listening beyond loopback needs a key of your own (--key, --key-file), or "
                   "--allow-emulator-key");
}

enum status keys_read(struct op *op, const struct settings *settings, struct key_texts *keys,
                      struct file_stamp *stamp)
{
    enum status st = ST_OK;

    *keys = (struct key_texts){ 0 };
    if (settings->key_file)
        TRY(keyfile_read(op, settings->key_file, keys, stamp));
    if (settings->key)
        TRY(set_primary(op, settings->key, keys));
    if (!has_any(keys))
        TRY(set_primary(op, auth_emulator_key, keys));
    TRY(check_well_known(op, settings, keys));
out:
    return st;
}

void keys_list(const struct key_texts *keys, const char *list[AUTH_KEYS_MAX])
{
    for (size_t i = 0; i < AUTH_KEYS_MAX; i++)
        list[i] = keys->text[i][0] ? keys->text[i] : NULL;
}

bool keys_are_well_known(const struct key_texts *keys)
{
    bool well_known = false;

    for (size_t i = 0; i < AUTH_KEYS_MAX; i++)
        well_known |= strcmp(keys->text[i], auth_emulator_key) == 0;
    return well_known;
}
