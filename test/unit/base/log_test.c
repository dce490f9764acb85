/* test/unit/base/log_test.c - a line is a line, whatever clients chose of it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "test.h"

/* What is written to standard error between both calls. */
struct caught {
    int before, pipe[2];
    char text[4096];
};

static void catch_begin(struct caught *caught)
{
    CHECK(pipe(caught->pipe) == 0);
    caught->before = dup(STDERR_FILENO);
    dup2(caught->pipe[1], STDERR_FILENO);
}

static void catch_end(struct caught *caught)
{
    ssize_t size;

    dup2(caught->before, STDERR_FILENO);
    close(caught->before);
    close(caught->pipe[1]);
    size = read(caught->pipe[0], caught->text, sizeof(caught->text) - 1);
    close(caught->pipe[0]);
    caught->text[size > 0 ? size : 0] = '\0';
}

static bool is_one_line(const char *text)
{
    const char *end = strchr(text, '\n');

    return end && end[1] == '\0';
}

TEST(what_a_client_chose_makes_no_line_of_its_own)
{
    struct caught caught;

    catch_begin(&caught);
    log_line(LOG_ERROR, "no container %s",
             "x\n2026-01-01T00:00:00.000Z info all is well\r\x1b[2J\x7f\xc2\x9b"
             "1A");
    catch_end(&caught);
    CHECK(is_one_line(caught.text));
    CHECK(strstr(caught.text, "error no container x\\x0a2026-01-01T00:00:00.000Z info all is "
                              "well\\x0d\\x1b[2J\\x7f\\xc2\\x9b1A\n"));
    CHECK(!strchr(caught.text, '\r') && !strchr(caught.text, '\x1b') && !strchr(caught.text, '\x9b'));
}

TEST(words_of_every_language_are_shown_as_they_are)
{
    struct caught caught;

    catch_begin(&caught);
    log_line(LOG_ERROR, "%s", "\xc3\xa9\xc2\xa0 \xe4\xb8\xad \xf0\x9f\x98\x80");
    catch_end(&caught);
    CHECK(strstr(caught.text, " error \xc3\xa9\xc2\xa0 \xe4\xb8\xad \xf0\x9f\x98\x80\n"));
}

TEST(a_long_line_is_cut_and_still_ends)
{
    char text[3000];
    struct caught caught;

    memset(text, '\n', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    catch_begin(&caught);
    log_line(LOG_ERROR, "%s", text);
    catch_end(&caught);
    CHECK(is_one_line(caught.text) && strlen(caught.text) < 1100);
}

TEST(a_quote_is_in_quotes_that_its_text_cannot_end)
{
    char text[3000];

    CHECK(strcmp(log_quote(slice_of("dbs/a\" is gone \\")).text, "\"dbs/a\\\" is gone \\\\\"") == 0);
    CHECK(strcmp(log_quote(slice_make("a\0b", 3)).text, "\"a b\"") == 0);
    CHECK(strcmp(log_quote(slice_of("")).text, "\"\"") == 0);
    memset(text, '"', sizeof(text));
    CHECK(strlen(log_quote(slice_make(text, sizeof(text))).text) < sizeof(struct log_quote));
    CHECK(strstr(log_quote(slice_make(text, sizeof(text))).text, "...\""));
}
