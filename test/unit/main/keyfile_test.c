/* test/unit/main/keyfile_test.c - the key file: what it may say, who may read it, and how it is replaced. */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "main/keyfile.h"
#include "test.h"

/* 32 bytes each: no key has fewer. */
#define KEY_1 "MTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTE="
#define KEY_2 "MjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjI="
#define KEY_3 "MzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzM="
#define KEY_4 "NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ="

static const char *path_of(const char *name)
{
    struct buf path;

    buf_init(&path, &test_op()->arena);
    buf_printf(&path, "%s/%s", test_directory(), name);
    buf_byte(&path, '\0');
    return path.data;
}

static const char *write_file(const char *text, mode_t mode)
{
    const char *path = path_of("keys");
    FILE *file = fopen(path, "w");

    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, mode) == 0);
    return path;
}

static enum status read_text(const char *text, struct key_texts *keys)
{
    struct file_stamp stamp;

    return keyfile_read(test_op(), write_file(text, 0600), keys, &stamp);
}

TEST(each_line_is_a_name_and_its_key)
{
    struct key_texts keys;

    CHECK(read_text("secondaryReadonly " KEY_4 "\n\n  primary\t" KEY_1 " \r\nsecondary " KEY_2
                    "\nprimaryReadonly " KEY_3,
                    &keys) == ST_OK);
    CHECK(strcmp(keys.text[AUTH_PRIMARY], KEY_1) == 0 && strcmp(keys.text[AUTH_SECONDARY], KEY_2) == 0);
    CHECK(strcmp(keys.text[AUTH_PRIMARY_READONLY], KEY_3) == 0);
    CHECK(strcmp(keys.text[AUTH_SECONDARY_READONLY], KEY_4) == 0);
    CHECK(read_text("secondary " KEY_2 "\n", &keys) == ST_OK && !keys.text[AUTH_PRIMARY][0]);
}

TEST(what_is_no_key_file_is_refused_without_telling_its_keys)
{
    static const char *const texts[] = { "",
                                         "\n \n",
                                         "primary",
                                         "primary \n",
                                         "primary SECRETSECRET!\n",
                                         "Primary " KEY_1 "\n",
                                         "SECRETSECRET==\n",
                                         "primary " KEY_1 "\nprimary SECRETSECRET==\n",
                                         "primary " KEY_1 " SECRETSECRET==\n",
                                         "# primary " KEY_1 "\n" };
    char large[5000];
    struct key_texts keys;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (read_text(texts[i], &keys) != ST_BAD_REQUEST || !strstr(test_op()->error, path_of("keys")) ||
            strstr(test_op()->error, "SECRET"))
            test_failed(__FILE__, __LINE__, texts[i]);
    memset(large, '\n', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    CHECK(read_text(large, &keys) == ST_BAD_REQUEST && strstr(test_op()->error, "too large"));
}

TEST(a_key_has_32_bytes_at_least)
{
    struct key_texts keys;

    CHECK(read_text("primary MTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMQ==\n", &keys) == ST_BAD_REQUEST);
    CHECK(strstr(test_op()->error, "base64 of 32 to"));
    CHECK(read_text("primary MTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTE=\n", &keys) == ST_OK);
}

TEST(a_file_that_others_can_read_or_change_is_refused)
{
    static const struct {
        mode_t mode;
        enum status status;
    } cases[] = { { 0600, ST_OK },          { 0400, ST_OK },          { 0640, ST_OK },
                  { 0644, ST_BAD_REQUEST }, { 0604, ST_BAD_REQUEST }, { 0602, ST_BAD_REQUEST },
                  { 0660, ST_BAD_REQUEST } };
    struct file_stamp stamp;
    struct key_texts keys;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK(keyfile_read(test_op(), write_file("primary " KEY_1 "\n", cases[i].mode), &keys, &stamp) ==
              cases[i].status);
    CHECK(keyfile_read(test_op(), test_directory(), &keys, &stamp) == ST_BAD_REQUEST);
    CHECK(keyfile_read(test_op(), path_of("absent"), &keys, &stamp) == ST_BAD_REQUEST);
}

/* Looks, and reads as the server does when there is something to read; the primary key that is then in use. */
static const char *look(const char *path, struct file_watch *watch, struct key_texts *in_use)
{
    struct key_texts keys;

    if (watched_look(path, watch) && keyfile_read(test_op(), path, &keys, &watch->used) == ST_OK)
        *in_use = keys;
    return in_use->text[AUTH_PRIMARY];
}

TEST(a_changed_file_is_read_once_when_a_second_look_sees_the_same)
{
    struct file_watch watch = { 0 };
    struct key_texts keys;
    const char *path = write_file("primary " KEY_1 "\n", 0600);
    char text[AUTH_KEY_TEXT_MAX + 1];

    CHECK(keyfile_read(test_op(), path, &keys, &watch.used) == ST_OK && !watched_look(path, &watch));
    CHECK(keyfile_rotate(test_op(), path, AUTH_PRIMARY, text) == ST_OK);
    CHECK(!watched_look(path, &watch) && watched_look(path, &watch));
    CHECK(keyfile_read(test_op(), path, &keys, &watch.used) == ST_OK && !watched_look(path, &watch));
    CHECK(chmod(path, 0644) == 0 && !watched_look(path, &watch) && watched_look(path, &watch));
    CHECK(keyfile_read(test_op(), path, &keys, &watch.used) == ST_BAD_REQUEST);
    CHECK(!watched_look(path, &watch)); /* so it is told once */
    CHECK(unlink(path) == 0 && !watched_look(path, &watch) && watched_look(path, &watch));
    CHECK(keyfile_read(test_op(), path, &keys, &watch.used) == ST_BAD_REQUEST);
    CHECK(!watched_look(path, &watch));
}

/* Half of the line is a key already, and not the one that was meant. */
TEST(a_file_that_is_written_in_its_place_is_taken_up_when_it_is_whole)
{
    static const char *const parts[] = { "primary MTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTEx",
                                         "MzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMz\nsecondary",
                                         " " KEY_2 "\n" };
    struct file_watch watch = { 0 };
    struct key_texts keys;
    const char *path = write_file("primary " KEY_1 "\n", 0600);
    FILE *file;

    CHECK(keyfile_read(test_op(), path, &keys, &watch.used) == ST_OK);
    CHECK(strcmp(look(path, &watch, &keys), KEY_1) == 0);
    file = fopen(path, "w"); /* which empties it */
    REQUIRE(file);
    CHECK(strcmp(look(path, &watch, &keys), KEY_1) == 0);
    for (size_t i = 0; i < 3; i++) {
        CHECK(fputs(parts[i], file) >= 0 && fflush(file) == 0);
        CHECK(strcmp(look(path, &watch, &keys), KEY_1) == 0);
    }
    CHECK(
        fclose(file) == 0 &&
        strcmp(look(path, &watch, &keys),
               "MTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMz") ==
            0);
    CHECK(strcmp(keys.text[AUTH_SECONDARY], KEY_2) == 0);
}

TEST(rotating_changes_one_key_and_leaves_the_others_and_the_mode)
{
    const char *path = write_file("secondary " KEY_2 "\nprimary " KEY_1 "\n", 0640);
    char first[AUTH_KEY_TEXT_MAX + 1], second[AUTH_KEY_TEXT_MAX + 1];
    struct file_stamp stamp;
    struct key_texts keys;
    struct stat info;

    CHECK(keyfile_rotate(test_op(), path, AUTH_PRIMARY, first) == ST_OK && strlen(first) == 88);
    CHECK(keyfile_rotate(test_op(), path, AUTH_SECONDARY_READONLY, second) == ST_OK);
    CHECK(keyfile_read(test_op(), path, &keys, &stamp) == ST_OK);
    CHECK(strcmp(keys.text[AUTH_PRIMARY], first) == 0 && strcmp(keys.text[AUTH_SECONDARY], KEY_2) == 0);
    CHECK(strcmp(keys.text[AUTH_SECONDARY_READONLY], second) == 0 && strcmp(first, second) != 0);
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0640);
    CHECK(access(path_of("keys.new"), F_OK) != 0);
}

TEST(rotating_makes_a_file_for_its_owner_only_and_leaves_a_bad_one_alone)
{
    char text[AUTH_KEY_TEXT_MAX + 1];
    struct stat info;

    CHECK(keyfile_rotate(test_op(), path_of("fresh"), AUTH_SECONDARY, text) == ST_OK);
    CHECK(stat(path_of("fresh"), &info) == 0 && (info.st_mode & 0777) == 0600);
    CHECK(keyfile_rotate(test_op(), write_file("junk\n", 0600), AUTH_PRIMARY, text) == ST_BAD_REQUEST);
    CHECK(stat(path_of("keys"), &info) == 0 && info.st_size == 5 && access(path_of("keys.new"), F_OK) != 0);
    CHECK(keyfile_rotate(test_op(), path_of("no/such/folder"), AUTH_PRIMARY, text) == ST_UNAVAILABLE);
}

TEST(of_two_rotations_at_a_time_one_is_refused_and_a_dead_one_is_in_nobodys_way)
{
    const char *path = write_file("primary " KEY_1 "\n", 0600);
    char text[AUTH_KEY_TEXT_MAX + 1];
    int other = open(path_of("keys.new"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    CHECK(other >= 0 && flock(other, LOCK_EX) == 0);
    REQUIRE(keyfile_rotate(test_op(), path, AUTH_PRIMARY, text) == ST_UNAVAILABLE);
    CHECK(strstr(test_op()->error, "try again") && access(path_of("keys.new"), F_OK) == 0);
    CHECK(write(other, "primary half a k", 16) == 16);
    close(other); /* it died, and left this behind */
    CHECK(keyfile_rotate(test_op(), path, AUTH_PRIMARY, text) == ST_OK);
    CHECK(access(path_of("keys.new"), F_OK) != 0);
}

/* --- the keys that the settings mean --- */

static enum status read_settings(const char *key, const char *file, const char *listen, bool allowed,
                                 struct key_texts *keys)
{
    struct settings settings = { .key = key,
                                 .key_file = file,
                                 .allow_emulator_key = allowed,
                                 .listen = { .item = { listen }, .count = 1 } };
    struct file_stamp stamp;

    return keys_read(test_op(), &settings, keys, &stamp);
}

TEST(the_key_flag_is_the_primary_and_the_file_has_the_others_or_all)
{
    const char *loopback = "localhost:1";
    struct key_texts keys;

    CHECK(read_settings(KEY_1, NULL, loopback, false, &keys) == ST_OK);
    CHECK(strcmp(keys.text[AUTH_PRIMARY], KEY_1) == 0 && !keys_are_well_known(&keys));
    CHECK(read_settings(KEY_1, write_file("secondary " KEY_2 "\n", 0600), loopback, false, &keys) == ST_OK);
    CHECK(strcmp(keys.text[AUTH_PRIMARY], KEY_1) == 0 && strcmp(keys.text[AUTH_SECONDARY], KEY_2) == 0);
    CHECK(read_settings(NULL, path_of("keys"), loopback, false, &keys) == ST_OK);
    CHECK(!keys.text[AUTH_PRIMARY][0] && !keys_are_well_known(&keys));
    CHECK(read_settings(KEY_1, write_file("primary " KEY_2 "\n", 0600), loopback, false, &keys) ==
          ST_BAD_REQUEST);
    CHECK(strstr(test_op()->error, "two primary keys"));
    CHECK(read_settings("no base64!", NULL, loopback, false, &keys) == ST_BAD_REQUEST);
    CHECK(read_settings("MTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMQ==", NULL, loopback, false, &keys) ==
          ST_BAD_REQUEST); /* 31 bytes */
}

/* Promise 3. */
TEST(the_well_known_key_wherever_it_comes_from_is_for_loopback_or_for_those_who_know)
{
    const char *beyond = "0.0.0.0:1", *file;
    struct key_texts keys;
    char line[200];

    snprintf(line, sizeof(line), "primary " KEY_1 "\nprimaryReadonly %s\n", auth_emulator_key);
    file = write_file(line, 0600);
    CHECK(read_settings(NULL, NULL, "127.0.0.1:1", false, &keys) == ST_OK && keys_are_well_known(&keys));
    CHECK(read_settings(NULL, NULL, beyond, false, &keys) == ST_FORBIDDEN);
    CHECK(read_settings(auth_emulator_key, NULL, beyond, false, &keys) == ST_FORBIDDEN);
    CHECK(read_settings(NULL, file, beyond, false, &keys) == ST_FORBIDDEN);
    CHECK(read_settings(NULL, file, beyond, true, &keys) == ST_OK && keys_are_well_known(&keys));
    CHECK(read_settings(KEY_1, NULL, beyond, false, &keys) == ST_OK);
}
