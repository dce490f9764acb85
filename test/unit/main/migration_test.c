/* test/unit/main/migration_test.c - made-up formats and steps, cut off at every place. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "main/directory.h"
#include "test.h"

enum { PLACES_MAX = 20, DIED = 7 };

static int die_at, place; /* the child dies at the die_at-th place it comes to; 0: nowhere */
static int first_runs, second_runs;

static void perhaps_die(void)
{
    if (++place == die_at)
        _exit(DIED);
}

static const char *path_of(const char *name)
{
    return directory_inside(test_op(), test_directory(), name);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static bool has_text(const char *path, const char *text)
{
    char found[100] = { 0 };
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(found, 1, sizeof(found) - 1, file) : 0;

    if (file)
        fclose(file);
    return size == strlen(text) && strcmp(found, text) == 0;
}

/* From format 1, where there are the files a and b, to 2, where there is c with what both had. */
static enum status join_files(struct op *op, const struct directory *directory)
{
    const char *a = directory_inside(op, directory->path, "a"),
               *b = directory_inside(op, directory->path, "b");
    const char *fresh = directory_inside(op, directory->path, "c.new");

    first_runs++;
    perhaps_die();
    if (access(a, F_OK) == 0 && access(b, F_OK) == 0) { /* else c is there: it was made before they went */
        CHECK(has_text(a, "A") && has_text(b, "B"));
        write_file(fresh, "A");
        perhaps_die();
        write_file(fresh, "AB");
        perhaps_die();
        CHECK(rename(fresh, directory_inside(op, directory->path, "c")) == 0);
        perhaps_die();
    }
    unlink(a);
    perhaps_die();
    unlink(b);
    perhaps_die();
    return ST_OK;
}

/* From 2 to 3, where c is called d. */
static enum status rename_file(struct op *op, const struct directory *directory)
{
    const char *c = directory_inside(op, directory->path, "c");

    second_runs++;
    perhaps_die();
    if (access(c, F_OK) == 0)
        CHECK(rename(c, directory_inside(op, directory->path, "d")) == 0);
    perhaps_die();
    return ST_OK;
}

static enum status fail(struct op *op, const struct directory *directory)
{
    (void)directory;
    return op_fail(op, ST_UNAVAILABLE, "made to fail");
}

static const struct migration steps[] = { { 2, "renames c", rename_file },
                                          { 1, "joins a and b", join_files } };
static const struct migration failing[] = { { 1, "fails", fail } };
static const struct formats first = { .present = 1 };
static const struct formats third = { .present = 3, .steps = steps, .step_count = 2 };

static enum status open_as(const struct formats *formats, bool read_only)
{
    struct directory directory;
    enum status st = directory_open_as(test_op(), formats, path_of("data"), read_only, &directory);

    if (st == ST_OK)
        directory_close(&directory);
    return st;
}

static void make_old(void)
{
    die_at = place = first_runs = second_runs = 0;
    CHECK(open_as(&first, false) == ST_OK);
    write_file(path_of("data/a"), "A");
    write_file(path_of("data/b"), "B");
}

static bool is_migrated(void)
{
    return has_text(path_of("data/FORMAT"), "orrery data format 3\n") && has_text(path_of("data/d"), "AB") &&
           access(path_of("data/a"), F_OK) != 0 && access(path_of("data/b"), F_OK) != 0 &&
           access(path_of("data/c"), F_OK) != 0;
}

TEST(the_steps_of_this_program_lead_from_each_format_to_the_next)
{
    CHECK(formats_known.present == DIRECTORY_FORMAT);
    for (size_t i = 0; i < formats_known.step_count; i++)
        CHECK(formats_known.steps[i].from >= 1 && formats_known.steps[i].from < DIRECTORY_FORMAT &&
              formats_known.steps[i].run && formats_known.steps[i].about);
}

TEST(a_directory_of_any_format_so_far_is_opened)
{
    for (int format = 1; format <= DIRECTORY_FORMAT; format++) {
        struct directory directory;

        CHECK(open_as(&first, false) == ST_OK);
        CHECK(directory_write_format(test_op(), path_of("data"), format) == ST_OK);
        CHECK(directory_open(test_op(), path_of("data"), false, &directory) == ST_OK);
        directory_close(&directory);
        CHECK(open_as(&formats_known, true) == ST_OK);
        CHECK(format > 1 || open_as(&first, false) == ST_UNAVAILABLE);
        CHECK(directory_write_format(test_op(), path_of("data"), 1) == ST_OK);
    }
}

TEST(an_old_directory_is_brought_to_the_present_format_once)
{
    make_old();
    CHECK(open_as(&third, false) == ST_OK && is_migrated() && first_runs == 1 && second_runs == 1);
    CHECK(open_as(&third, false) == ST_OK && first_runs == 1 && second_runs == 1);
    CHECK(open_as(&first, false) == ST_UNAVAILABLE && strstr(test_op()->error, "use a newer one"));
}

TEST(a_new_directory_has_the_present_format_and_needs_no_step)
{
    die_at = place = first_runs = second_runs = 0;
    CHECK(open_as(&third, false) == ST_OK && first_runs == 0 && second_runs == 0);
    CHECK(has_text(path_of("data/FORMAT"), "orrery data format 3\n"));
}

TEST(an_old_directory_is_not_changed_by_who_only_reads)
{
    make_old();
    CHECK(open_as(&third, true) == ST_UNAVAILABLE && strstr(test_op()->error, "start the server on it once"));
    CHECK(first_runs == 0 && has_text(path_of("data/FORMAT"), "orrery data format 1\n"));
}

TEST(without_a_way_to_the_present_format_no_step_is_run)
{
    const struct formats fourth = { .present = 4, .steps = steps, .step_count = 2 };

    make_old();
    CHECK(open_as(&fourth, false) == ST_UNAVAILABLE && strstr(test_op()->error, "no way from format 3 to 4"));
    CHECK(first_runs == 0 && has_text(path_of("data/FORMAT"), "orrery data format 1\n"));
}

TEST(a_step_that_fails_leaves_the_format_for_another_try)
{
    const struct formats second = { .present = 2, .steps = failing, .step_count = 1 };

    make_old();
    CHECK(open_as(&second, false) == ST_UNAVAILABLE && strstr(test_op()->error, "made to fail"));
    CHECK(has_text(path_of("data/FORMAT"), "orrery data format 1\n"));
    CHECK(open_as(&third, false) == ST_OK && is_migrated());
}

/* Promise 1. Whether a step ended or not when the process did, it is run again unless its format was written. */
TEST(a_migration_that_was_cut_off_anywhere_is_finished_by_the_next_start)
{
    int status = 0, deaths = 0;

    for (int at = 1; at <= PLACES_MAX; at++) {
        pid_t child;

        make_old();
        fflush(NULL);
        child = fork();
        if (child == 0) {
            die_at = at;
            _exit(open_as(&third, false) == ST_OK ? 0 : 1);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
        deaths += WEXITSTATUS(status) == DIED;
        CHECK(WEXITSTATUS(status) == DIED || WEXITSTATUS(status) == 0);
        CHECK(open_as(&third, false) == ST_OK && is_migrated());
        CHECK(unlink(path_of("data/d")) == 0 && unlink(path_of("data/FORMAT")) == 0 &&
              rmdir(path_of("data/tls")) == 0);
        unlink(path_of("data/c.new"));
    }
    CHECK(deaths == 8); /* each place of both steps */
}
