/* test/unit/main/directory_test.c - the data directory: one server at a time, one format. */
#include <sys/stat.h>
#include <unistd.h>

#include "main/directory.h"
#include "test.h"

static const char *path_of(const char *name)
{
    struct buf path;

    buf_init(&path, &test_op()->arena);
    buf_printf(&path, "%s/%s", test_directory(), name);
    buf_byte(&path, '\0');
    return path.data;
}

static bool is_there(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");

    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static enum status try_open(const char *name, bool read_only)
{
    struct directory directory;
    enum status st = directory_open(test_op(), path_of(name), read_only, &directory);

    CHECK(st == ST_OK || directory.lock == -1);
    if (st == ST_OK)
        directory_close(&directory);
    return st;
}

TEST(a_directory_is_made_for_its_owner_only_and_opens_again)
{
    struct stat info;

    CHECK(try_open("d", false) == ST_OK);
    CHECK(is_there("d/FORMAT") && is_there("d/LOCK") && is_there("d/tls") && !is_there("d/FORMAT.new"));
    CHECK(stat(path_of("d"), &info) == 0 && (info.st_mode & 0777) == 0700);
    CHECK(try_open("d", false) == ST_OK && try_open("d", true) == ST_OK);
}

TEST(its_parts_are_told_as_paths)
{
    struct directory directory;

    CHECK(directory_open(test_op(), path_of("d"), false, &directory) == ST_OK);
    CHECK(strcmp(directory.store, path_of("d/store")) == 0 &&
          strcmp(directory.tls_key, path_of("d/tls/key.pem")) == 0);
    directory_close(&directory);
    directory_close(&directory);
    CHECK(directory.lock == -1);
}

/* Promise 1. */
TEST(a_second_server_is_refused_until_the_first_has_let_go)
{
    struct directory first;

    CHECK(directory_open(test_op(), path_of("d"), false, &first) == ST_OK);
    CHECK(try_open("d", false) == ST_UNAVAILABLE && strstr(test_op()->error, "another server is using"));
    CHECK(try_open("d", true) == ST_UNAVAILABLE);
    directory_close(&first);
    CHECK(try_open("d", false) == ST_OK);
}

TEST(a_newer_format_is_refused_and_left_as_it_is)
{
    char line[60];

    CHECK(try_open("d", false) == ST_OK);
    snprintf(line, sizeof(line), "orrery data format %d\n", DIRECTORY_FORMAT + 1);
    write_file("d/FORMAT", line);
    CHECK(try_open("d", false) == ST_UNAVAILABLE && strstr(test_op()->error, "use a newer one"));
    CHECK(try_open("d", true) == ST_UNAVAILABLE);
}

TEST(a_damaged_format_is_told_and_not_repaired)
{
    static const char *const texts[] = { "",
                                         "junk",
                                         "orrery data format",
                                         "orrery data format x\n",
                                         "orrery data format 0\n",
                                         "orrery data format -1\n",
                                         "orrery data format 2x\n",
                                         "orrery data format 2",
                                         "orrery data format 4294967298\n", /* 2, were it cut to 32 bits */
                                         "orrery data format 2\njunk\n" };

    CHECK(try_open("d", false) == ST_OK);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        write_file("d/FORMAT", texts[i]);
        if (try_open("d", false) != ST_CORRUPT || !strstr(test_op()->error, "damaged"))
            test_failed(__FILE__, __LINE__, texts[i]);
    }
}

TEST(reading_makes_nothing)
{
    CHECK(try_open("absent", true) == ST_UNAVAILABLE && !is_there("absent"));
    CHECK(mkdir(path_of("empty"), 0700) == 0);
    CHECK(try_open("empty", true) == ST_UNAVAILABLE && !is_there("empty/FORMAT") && !is_there("empty/LOCK"));
}

/* Promise 7. */
TEST(a_directory_that_others_may_read_or_its_group_may_write_is_refused_and_left_as_it_is)
{
    static const struct {
        mode_t mode;
        enum status status;
    } cases[] = { { 0700, ST_OK },          { 0750, ST_OK },          { 0770, ST_UNAVAILABLE },
                  { 0755, ST_UNAVAILABLE }, { 0701, ST_UNAVAILABLE }, { 0777, ST_UNAVAILABLE } };
    struct stat info;

    CHECK(try_open("d", false) == ST_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK(chmod(path_of("d"), cases[i].mode) == 0);
        CHECK(try_open("d", false) == cases[i].status);
        CHECK(cases[i].status == ST_OK || strstr(test_op()->error, "chmod 700"));
        CHECK(stat(path_of("d"), &info) == 0 && (info.st_mode & 0777) == cases[i].mode);
    }
}

TEST(an_empty_directory_that_was_given_is_closed_to_others)
{
    struct stat info;

    CHECK(mkdir(path_of("given"), 0755) == 0 && chmod(path_of("given"), 0777) == 0);
    CHECK(try_open("given", false) == ST_OK);
    CHECK(stat(path_of("given"), &info) == 0 && (info.st_mode & 0777) == 0700);
}

TEST(hidden_files_are_files)
{
    struct stat info;

    CHECK(mkdir(path_of("home"), 0755) == 0);
    write_file("home/.profile", "x");
    CHECK(!directory_is_empty(path_of("home")));
    CHECK(try_open("home", false) == ST_UNAVAILABLE && strstr(test_op()->error, "is not empty"));
    CHECK(stat(path_of("home"), &info) == 0 && (info.st_mode & 0777) == 0755);
    CHECK(mkdir(path_of("disk"), 0755) == 0 && mkdir(path_of("disk/lost+found"), 0700) == 0);
    CHECK(directory_is_empty(path_of("disk")) && try_open("disk", false) == ST_OK);
}

TEST(a_path_that_cannot_be_a_directory_is_refused)
{
    write_file("file", "x");
    CHECK(try_open("file", false) == ST_UNAVAILABLE);
    CHECK(try_open("no/such/parent", false) == ST_UNAVAILABLE);
}
