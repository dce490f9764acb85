/* test/unit/main/backup_test.c - copies of the data directory: where they may go, and that they open. */
#ifdef ORRERY_ROCKSDB
#include <sys/stat.h>
#include <unistd.h>

#include "keys/keys.h"
#include "main/backup.h"
#include "test.h"

enum { BUCKET = 7 << BUCKET_BITS };

struct data {
    struct directory directory;
    struct store *store;
};

static const char *path_of(const char *name)
{
    return directory_inside(test_op(), test_directory(), name);
}

static bool is_there(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

static void open_data(struct data *data, const char *name)
{
    struct store_options options = {
        .kind = STORE_ROCKSDB, .sync = true, .cache_bytes = 8 << 20, .entries = ENTRIES_NONE
    };

    test_op()->may_block = true;
    *data = (struct data){ 0 };
    CHECK(directory_open(test_op(), path_of(name), false, &data->directory) == ST_OK);
    options.directory = data->directory.store;
    CHECK(store_open(test_op(), &options, &data->store) == ST_OK);
}

static void close_data(struct data *data)
{
    store_close(data->store);
    directory_close(&data->directory);
}

static struct slice document(struct data *data, struct bucket **bucket)
{
    CHECK(store_bucket(test_op(), data->store, BUCKET, bucket) == ST_OK);
    return key_document(&test_op()->arena, BUCKET, 1);
}

static void put(struct data *data, const char *text)
{
    struct commit_stamp stamp;
    struct bucket *bucket;
    struct slice key = document(data, &bucket);
    struct batch *batch = batch_new(test_op(), BUCKET);

    batch_put(batch, key, slice_of(text));
    CHECK(store_commit(test_op(), bucket, batch, &stamp) == ST_OK);
}

static bool holds(struct data *data, const char *text)
{
    struct bucket *bucket;
    struct slice key = document(data, &bucket), value = { 0 };

    CHECK(store_get_latest(test_op(), bucket, key, &value) == ST_OK);
    return value.data && slice_is(value, text);
}

static enum status back_up_below(struct data *data, const char *backup_dir, const char *name)
{
    const char *made;
    enum status st = backup_make(test_op(), &data->directory, data->store, backup_dir, name, &made);

    CHECK(st != ST_OK || (made[0] == '/' && access(made, F_OK) == 0));
    return st;
}

/* Copies go where the test's files are. */
static enum status back_up(struct data *data, const char *target)
{
    return back_up_below(data, test_directory(), target);
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");

    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

TEST(a_copy_is_a_data_directory_of_its_own_with_the_certificate)
{
    struct data data, copy;
    struct stat info;

    open_data(&data, "data");
    write_file("data/tls/cert.pem", "certificate");
    write_file("data/tls/key.pem", "private");
    put(&data, "before");
    CHECK(back_up(&data, path_of("copy")) == ST_OK);
    put(&data, "after");
    CHECK(stat(path_of("copy"), &info) == 0 && (info.st_mode & 0777) == 0700);
    CHECK(is_there("copy/tls/cert.pem") && stat(path_of("copy/tls/key.pem"), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    open_data(&copy, "copy");
    CHECK(holds(&copy, "before"));
    put(&copy, "elsewhere");
    CHECK(holds(&data, "after"));
    close_data(&copy);
    close_data(&data);
}

TEST(an_empty_directory_may_be_given_and_a_name_may_end_in_a_slash)
{
    struct data data;

    open_data(&data, "data");
    CHECK(mkdir(path_of("empty"), 0700) == 0);
    CHECK(back_up(&data, path_of("empty/")) == ST_OK && is_there("empty/FORMAT"));
    CHECK(back_up(&data, path_of("new//")) == ST_OK && is_there("new/FORMAT"));
    close_data(&data);
}

/* A name that is cut would be another place. */
#define TEN(text) text text text text text text text text text text
#define LONG "none/" TEN(TEN(TEN("d/d/d/"))) "x"

TEST(where_a_copy_cannot_go_nothing_is_made_and_the_reason_is_told)
{
    static const struct {
        const char *target, *reason;
    } cases[] = {
        { "full", "is not empty" },        { "copy", "is not empty" },
        { "data", "inside the data" },     { "data/copy", "inside the data" },
        { "data/../data/x", "has dots" },  { "link/copy", "inside the data" },
        { "link", "inside the data" },     { "no/such/copy", "there is no directory" },
        { "file", "is no directory" },     { LONG, "too long" },
        { "file/copy", "cannot be used" },
    };
    struct data data;

    open_data(&data, "data");
    put(&data, "kept");
    CHECK(mkdir(path_of("full"), 0700) == 0 && symlink(path_of("data"), path_of("link")) == 0);
    write_file("full/something", "x");
    write_file("file", "x");
    CHECK(back_up(&data, path_of("copy")) == ST_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (back_up(&data, path_of(cases[i].target)) == ST_OK || !strstr(test_op()->error, cases[i].reason))
            test_failed(__FILE__, __LINE__, test_op()->error ? test_op()->error : cases[i].target);
    CHECK(!is_there("full/LOCK") && !is_there("data/copy") && !is_there("data/x") && !is_there("no"));
    CHECK(holds(&data, "kept"));
    close_data(&data);
}

/* Promise 8. */
TEST(a_copy_goes_below_the_directory_for_copies_and_nowhere_else)
{
    static const char *const bad[] = { "..",    "../out", "x/../../out", "./x", ".",
                                       "x/./y", "out",    "link/x",      "/",   "" };
    struct data data;

    open_data(&data, "data");
    CHECK(mkdir(path_of("other"), 0700) == 0 && mkdir(path_of("copies"), 0700) == 0);
    CHECK(symlink(path_of("other"), path_of("copies/out")) == 0);
    CHECK(symlink(path_of("other"), path_of("copies/link")) == 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (back_up_below(&data, path_of("copies"), bad[i]) != ST_BAD_DIRECTORY)
            test_failed(__FILE__, __LINE__, bad[i]);
    CHECK(back_up_below(&data, path_of("copies"), path_of("other/x")) == ST_BAD_DIRECTORY);
    CHECK(strstr(test_op()->error, "--backup-dir"));
    CHECK(back_up_below(&data, path_of("copies"), path_of("copies-2")) == ST_BAD_DIRECTORY);
    CHECK(!is_there("other/x") && !is_there("copies-2") && !is_there("other/FORMAT"));
    CHECK(back_up_below(&data, path_of("copies"), "monday") == ST_OK && is_there("copies/monday/FORMAT"));
    CHECK(back_up_below(&data, path_of("copies"), path_of("copies/tuesday/")) == ST_OK);
    CHECK(is_there("copies/tuesday/FORMAT"));
    close_data(&data);
}

TEST(without_a_directory_for_copies_they_go_below_backups_in_the_data)
{
    struct data data, copy;
    struct stat info;

    open_data(&data, "data");
    put(&data, "before");
    CHECK(back_up_below(&data, NULL, "monday") == ST_OK);
    CHECK(back_up_below(&data, NULL, "../store") == ST_BAD_DIRECTORY);
    CHECK(back_up_below(&data, NULL, path_of("data/store/x")) == ST_BAD_DIRECTORY);
    CHECK(back_up_below(&data, NULL, path_of("copy")) == ST_BAD_DIRECTORY && !is_there("copy"));
    CHECK(stat(path_of("data/backups"), &info) == 0 && (info.st_mode & 0777) == 0700);
    CHECK(back_up_below(&data, NULL, "tuesday") == ST_OK); /* which holds no monday */
    CHECK(is_there("data/backups/tuesday/store") && !is_there("data/backups/tuesday/backups"));
    open_data(&copy, "data/backups/monday");
    CHECK(holds(&copy, "before"));
    close_data(&copy);
    close_data(&data);
}

/* Promise 8. */
TEST(what_is_refused_keeps_its_mode_and_hidden_files_count)
{
    struct data data;
    struct stat info;

    open_data(&data, "data");
    CHECK(mkdir(path_of("home"), 0755) == 0 && chmod(path_of("home"), 0755) == 0);
    write_file("home/.profile", "x");
    CHECK(back_up(&data, path_of("home")) == ST_BAD_DIRECTORY && strstr(test_op()->error, "is not empty"));
    CHECK(stat(path_of("home"), &info) == 0 && (info.st_mode & 0777) == 0755 && !is_there("home/LOCK"));
    CHECK(unlink(path_of("home/.profile")) == 0 && back_up(&data, path_of("home")) == ST_OK);
    CHECK(stat(path_of("home"), &info) == 0 && (info.st_mode & 0777) == 0700);
    close_data(&data);
}

/* Only root can give a directory away; anybody else tries one of root's. */
TEST(a_directory_of_another_user_is_refused_and_left_as_it_is)
{
    const char *theirs = geteuid() == 0 ? path_of("theirs") : "/usr";
    const char *below = geteuid() == 0 ? test_directory() : "/";
    struct stat before, after;
    struct data data;

    open_data(&data, "data");
    if (geteuid() == 0)
        CHECK(mkdir(theirs, 0755) == 0 && chown(theirs, 65534, 65534) == 0);
    CHECK(stat(theirs, &before) == 0 && before.st_uid != geteuid());
    CHECK(back_up_below(&data, below, theirs) == ST_BAD_DIRECTORY &&
          strstr(test_op()->error, "another user"));
    CHECK(stat(theirs, &after) == 0 && after.st_mode == before.st_mode && after.st_uid == before.st_uid);
    CHECK(!is_there("theirs/LOCK") && !is_there("theirs/store"));
    close_data(&data);
}

TEST(a_name_that_begins_as_the_data_does_is_not_inside_it)
{
    struct data data;

    open_data(&data, "data");
    CHECK(back_up(&data, path_of("data-copy")) == ST_OK && is_there("data-copy/FORMAT"));
    close_data(&data);
}

TEST(a_copy_that_fails_leaves_nothing_behind)
{
    struct data data;

    open_data(&data, "data");
    CHECK(mkdir(path_of("given"), 0700) == 0);
    CHECK(mkdir(path_of("data/tls/cert.pem"), 0700) == 0); /* no file: it cannot be copied */
    CHECK(back_up(&data, path_of("made")) == ST_UNAVAILABLE && !is_there("made"));
    CHECK(back_up(&data, path_of("given")) == ST_UNAVAILABLE && directory_is_empty(path_of("given")));
    CHECK(is_there("given") && !is_there("given/LOCK"));
    CHECK(rmdir(path_of("data/tls/cert.pem")) == 0 && back_up(&data, path_of("given")) == ST_OK);
    close_data(&data);
}

/* What is left of a copy whose server was killed. */
TEST(half_a_copy_is_no_data_directory)
{
    struct directory directory;
    struct data data;

    open_data(&data, "data");
    CHECK(back_up(&data, path_of("copy")) == ST_OK && unlink(path_of("copy/FORMAT")) == 0);
    CHECK(directory_open(test_op(), path_of("copy"), false, &directory) == ST_UNAVAILABLE);
    CHECK(directory_open(test_op(), path_of("copy"), true, &directory) == ST_UNAVAILABLE);
    close_data(&data);
}
#endif
