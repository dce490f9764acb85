/* test/unit/script/script_test.c - sessions with children that do what they should, and with those that do not. */
#include <pthread.h>
#include <stdatomic.h>

#include "script/script.h"
#include "script/strikes.h"
#include "test.h"

enum { RUN_MS = 2000, MEMORY_MB = 100 }; /* a sanitizer's shadow is memory too */

static struct scripts *open_timed(struct env *env, size_t children_max)
{
    return scripts_open(&(struct script_options){ .env = env,
                                                  .program = "/proc/self/exe",
                                                  .run_ms = RUN_MS,
                                                  .memory_bytes = (size_t)MEMORY_MB << 20,
                                                  .children_max = children_max,
                                                  .cores = 2 });
}

static struct scripts *open_children(size_t children_max)
{
    return open_timed(env_system(), children_max);
}

static struct scripts *open_scripts(void)
{
    return open_children(4);
}

/* A key for each source: a child keeps scripts by their keys. */
static struct script script_doing(const char *what)
{
    struct script script = { .kind = "sproc", .name = slice_of("p"), .source = slice_of(what) };

    for (size_t i = 0; what[i]; i++)
        script.key[i] = what[i] == ' ' ? '-' : what[i];
    return script;
}

static enum status answer(struct op *op, void *context, struct json operations, struct buf *answers,
                          bool *accept)
{
    int *count = context;

    (void)op;
    *count += (int)json_count(operations);
    buf_text(answers, "{\"status\":201},{\"status\":409}");
    *accept = false;
    return ST_OK;
}

static enum status run_in(struct op *op, struct script_session *session, const char *what,
                          script_operate *operate, void *context, struct json *done)
{
    struct script script = script_doing(what);
    struct script_run run = { &script, slice_of("[1]"), slice_of("{\"log\":false}"), operate, context };

    return script_run(op, session, &run, done);
}

static enum status run_once(struct op *op, struct scripts *scripts, const char *what, struct json *body)
{
    struct script_session *session = NULL;
    struct json done;
    int count = 0;
    enum status st;

    TRY(script_begin(op, scripts, 1, &session));
    TRY(run_in(op, session, what, answer, &count, &done));
    if (body) /* the session's memory ends with it */
        *body = json_from_bytes(arena_copy(&op->arena, json_bytes(json_get(done, "body"))));
out:
    script_end(session);
    return st;
}

TEST(a_script_leaves_its_body_and_its_child_is_used_again)
{
    struct scripts *scripts = open_scripts();
    struct op *op = test_op();
    struct script_stats stats;
    struct json body;

    for (int i = 0; i < 5; i++)
        CHECK(run_once(op, scripts, "done", &body) == ST_OK && json_int(body) == 1);
    scripts_stats(scripts, &stats);
    CHECK(stats.children == 1 && stats.runs == 5 && stats.killed == 0);
    scripts_close(scripts);
}

TEST(operations_are_answered_in_order_and_told_that_no_more_are_accepted)
{
    struct scripts *scripts = open_scripts();
    struct op *op = test_op();
    struct json body;

    REQUIRE(run_once(op, scripts, "operate", &body) == ST_OK);
    CHECK(json_int(json_get(json_element(json_get(body, "answers"), 0), "status")) == 201);
    CHECK(json_int(json_get(json_element(json_get(body, "answers"), 1), "status")) == 409);
    CHECK(json_kind(json_get(body, "accept")) == JSON_FALSE);
    scripts_close(scripts);
}

static enum status refuse(struct op *op, void *context, struct json operations, struct buf *answers,
                          bool *accept)
{
    (void)context, (void)operations, (void)answers, (void)accept;
    return op_fail(op, ST_UNAVAILABLE, "no disk");
}

TEST(what_an_operation_cannot_survive_ends_the_script_and_its_child)
{
    struct scripts *scripts = open_scripts();
    struct op *op = test_op();
    struct script_session *session;
    struct json done;

    REQUIRE(script_begin(op, scripts, 1, &session) == ST_OK);
    CHECK(run_in(op, session, "operate", refuse, NULL, &done) == ST_UNAVAILABLE);
    script_end(session);
    CHECK(run_once(op, scripts, "done", NULL) ==
          ST_OK); /* and not the old one, which waits for its answers */
    scripts_close(scripts);
}

TEST(a_script_that_throws_is_told_in_the_services_words_and_its_child_is_kept)
{
    struct scripts *scripts = open_scripts();
    struct op *op = test_op();
    struct script_stats stats;

    CHECK(run_once(op, scripts, "fail", NULL) == ST_SCRIPT_FAILED && op->sub_status == 404);
    CHECK(strcmp(op->error,
                 "Encountered exception while executing function. Exception = Error: oops\r\nStack trace: "
                 "at p.js") == 0);
    CHECK(run_once(op, scripts, "done", NULL) == ST_OK);
    scripts_stats(scripts, &stats);
    CHECK(stats.killed == 0);
    scripts_close(scripts);
}

/* Promises 1 and 2 of the folder. */
TEST(whatever_a_child_does_its_caller_is_told_and_the_next_script_runs)
{
    static const struct {
        const char *what;
        enum status status;
    } rows[] = {
        { "loop", ST_SCRIPT_TIMEOUT },         { "hoard", ST_SCRIPT_FAILED },
        { "die", ST_SCRIPT_FAILED },           { "empty frame", ST_SCRIPT_FAILED },
        { "large frame", ST_SCRIPT_FAILED },   { "half a frame", ST_SCRIPT_FAILED },
        { "no json", ST_BAD_REQUEST },         { "wrong frame", ST_SCRIPT_FAILED },
        { "no operations", ST_SCRIPT_FAILED },
    };
    struct scripts *scripts = open_scripts();
    struct op *op = test_op();

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (run_once(op, scripts, rows[i].what, NULL) != rows[i].status)
            test_failed(__FILE__, __LINE__, rows[i].what);
        CHECK(op->error && op->error[0]);
        CHECK(run_once(op, scripts, "done", NULL) == ST_OK);
    }
    scripts_close(scripts);
}

/* Promise 4 of the folder. */
TEST(a_script_that_is_killed_six_times_running_is_refused_and_others_run)
{
    struct scripts *scripts = open_scripts();
    struct op *op = test_op();

    for (int i = 0; i < STRIKES_MAX; i++)
        CHECK(run_once(op, scripts, "hoard", NULL) == ST_SCRIPT_FAILED);
    CHECK(run_once(op, scripts, "hoard", NULL) == ST_SCRIPT_BLOCKED);
    CHECK(strstr(op->error, "'p' is blocked for execution because it has violated its allowed resource limit "
                            "several times."));
    CHECK(run_once(op, scripts, "done", NULL) == ST_OK);
    scripts_close(scripts);
}

TEST(a_script_that_a_child_has_forgotten_is_sent_again)
{
    struct scripts *scripts = open_scripts();
    struct op *op = test_op();
    struct json body;

    CHECK(run_once(op, scripts, "forget", &body) == ST_OK && slice_is(json_string(body), "again"));
    scripts_close(scripts);
}

TEST(without_the_program_scripts_are_not_built_and_the_reason_says_what_to_install)
{
    struct scripts *scripts =
        scripts_open(&(struct script_options){ env_system(), "/nowhere/orrery-js", RUN_MS, 1 << 30, 4, 2 });
    struct op *op = test_op();
    struct script_session *session;

    CHECK(script_begin(op, scripts, 1, &session) == ST_NOT_BUILT);
    CHECK(strstr(op->error, "libjavascriptcoregtk"));
    CHECK(script_begin(op, scripts, 1, &session) == ST_NOT_BUILT);
    scripts_close(scripts);
}

/* ---- functions ---- */

static enum status call_in(struct op *op, struct script_session *session, const char *what,
                           struct json *values)
{
    struct script script = script_doing(what);

    return script_call(op, session, &script, slice_of("[[1]]"), 1, values);
}

struct calling {
    struct script_session *session;
    struct json values;
};

static enum status call_and_answer(struct op *op, void *context, struct json operations, struct buf *answers,
                                   bool *accept)
{
    struct calling *calling = context;

    CHECK(call_in(op, calling->session, "seven", &calling->values) == ST_OK);
    CHECK(slice_is(json_string(json_get(json_element(operations, 1), "op")), "two")); /* still there */
    (void)accept;
    buf_text(answers, "{},{}");
    return ST_OK;
}

TEST(functions_are_called_while_a_script_waits_for_its_operations)
{
    struct scripts *scripts = open_scripts();
    struct op *op = test_op();
    struct calling calling = { 0 };
    struct json done;

    REQUIRE(script_begin(op, scripts, 1, &calling.session) == ST_OK);
    CHECK(run_in(op, calling.session, "operate", call_and_answer, &calling, &done) == ST_OK);
    CHECK(json_int(json_get(json_element(calling.values, 0), "value")) == 7);
    script_end(calling.session);
    scripts_close(scripts);
}

TEST(as_many_values_must_come_back_as_functions_were_called)
{
    struct scripts *scripts = open_scripts();
    struct op *op = test_op();
    struct script_session *session;
    struct json values;

    REQUIRE(script_begin(op, scripts, 1, &session) == ST_OK);
    CHECK(call_in(op, session, "few values", &values) == ST_SCRIPT_FAILED);
    CHECK(call_in(op, session, "seven", &values) == ST_SCRIPT_FAILED); /* it is not asked again */
    script_end(session);
    scripts_close(scripts);
}

TEST(a_function_that_throws_is_told_in_the_same_words)
{
    struct scripts *scripts = open_scripts();
    struct op *op = test_op();
    struct script_session *session;
    struct json values;

    REQUIRE(script_begin(op, scripts, 1, &session) == ST_OK);
    REQUIRE(call_in(op, session, "error", &values) == ST_OK);
    CHECK(script_failed(op, json_element(values, 0)) == ST_SCRIPT_FAILED &&
          strstr(op->error, "Exception = Error: bad"));
    script_end(session);
    scripts_close(scripts);
}

/* ---- many at a time ---- */

static void *run_beside(void *argument)
{
    struct scripts *scripts = argument;
    struct op op;
    bool late;

    op_init(&op, env_system(), 1 << 26);
    op_begin(&op, 60 * 1000);
    op.may_block = true;
    late = run_once(&op, scripts, "loop", NULL) == ST_SCRIPT_TIMEOUT;
    op_free(&op);
    return late ? argument : NULL;
}

TEST(a_script_finds_a_child_while_others_hang)
{
    enum { HANGING = 3 };
    struct scripts *scripts = open_scripts();
    struct op *op = test_op();
    pthread_t threads[HANGING];
    void *late;

    for (size_t i = 0; i < HANGING; i++)
        pthread_create(&threads[i], NULL, run_beside, scripts);
    CHECK(run_once(op, scripts, "done", NULL) == ST_OK);
    for (size_t i = 0; i < HANGING; i++) {
        pthread_join(threads[i], &late);
        CHECK(late);
    }
    scripts_close(scripts);
}

TEST(a_script_waits_for_its_turn_when_as_many_run_as_may)
{
    struct scripts *scripts = open_children(1);
    struct script_stats stats = { 0 };
    pthread_t thread;
    void *late;

    pthread_create(&thread, NULL, run_beside, scripts);
    while (stats.runs == 0)
        scripts_stats(scripts, &stats);
    CHECK(run_once(test_op(), scripts, "done", NULL) == ST_OK);
    scripts_stats(scripts, &stats);
    CHECK(stats.killed == 1 && stats.children == 1);
    pthread_join(thread, &late);
    CHECK(late);
    scripts_close(scripts);
}

/* ---- in turn ---- */

struct turn {
    struct scripts *scripts;
    struct env *env; /* theirs */
    atomic_bool had, stop;
};

static void begin_beside(struct op *op)
{
    op_init(op, env_system(), 1 << 26);
    op_begin(op, 60 * 1000);
    op->may_block = true;
}

static void *take_turn(void *argument)
{
    struct turn *turn = argument;
    struct script_session *session = NULL;
    struct op op;

    begin_beside(&op);
    CHECK(script_begin(&op, turn->scripts, 1, &session) == ST_OK);
    turn->had = true;
    script_end(session);
    op_free(&op);
    return NULL;
}

TEST(a_child_that_is_given_back_goes_to_who_has_waited_for_it)
{
    struct turn turn = { .scripts = open_children(1) };
    struct script_stats stats = { 0 };
    struct script_session *session;
    pthread_t thread;

    REQUIRE(script_begin(test_op(), turn.scripts, 1, &session) == ST_OK);
    pthread_create(&thread, NULL, take_turn, &turn);
    while (stats.waiting == 0)
        scripts_stats(turn.scripts, &stats);
    script_end(session);
    REQUIRE(script_begin(test_op(), turn.scripts, 1, &session) == ST_OK);
    CHECK(turn.had);
    script_end(session);
    pthread_join(thread, NULL);
    scripts_close(turn.scripts);
}

/* By their clock, which nobody else moves, a run takes two milliseconds. */
static enum status answer_later(struct op *op, void *context, struct json operations, struct buf *answers,
                                bool *accept)
{
    struct turn *turn = context;
    int count = 0;

    env_advance_ms(turn->env, 2);
    return answer(op, &count, operations, answers, accept);
}

static void *run_on(void *argument)
{
    struct turn *turn = argument;
    struct script_session *session = NULL;
    struct json done;
    struct op op;

    begin_beside(&op);
    while (!turn->stop) {
        CHECK(script_begin(&op, turn->scripts, 1, &session) == ST_OK);
        CHECK(run_in(&op, session, "operate", answer_later, turn, &done) == ST_OK);
        script_end(session);
    }
    op_free(&op);
    return NULL;
}

/* The first of them waits for some 50 ms, and somebody is served every two. */
TEST(a_line_that_moves_gets_another_child_where_a_core_is_left)
{
    enum { CLIENTS = 24, RUNS_ENOUGH = 20000 };
    struct turn turn = { .env = env_seeded(1, 0) };
    struct script_stats stats = { 0 };
    pthread_t threads[CLIENTS];

    turn.scripts = open_timed(turn.env, 2);
    for (size_t i = 0; i < CLIENTS; i++)
        pthread_create(&threads[i], NULL, run_on, &turn);
    while (stats.children < 2 && stats.runs < RUNS_ENOUGH)
        scripts_stats(turn.scripts, &stats);
    CHECK(stats.children == 2);
    turn.stop = true;
    for (size_t i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    scripts_close(turn.scripts);
    env_free(turn.env);
}

/* ---- owners ---- */

enum { CROWD = 1, OTHER = 2 };

struct waiting {
    struct scripts *scripts;
    uint64_t owner;
    pthread_t thread;
};

static char served[16]; /* the owners' letters, in the order in which they had the one child */

static void *note_turn(void *argument)
{
    struct waiting *waiting = argument;
    struct script_session *session = NULL;
    struct op op;

    begin_beside(&op);
    CHECK(script_begin(&op, waiting->scripts, waiting->owner, &session) == ST_OK);
    served[strlen(served)] = waiting->owner == CROWD ? 'c' : 'o';
    script_end(session);
    op_free(&op);
    return NULL;
}

/* In the line when this returns. */
static void start_waiting(struct waiting *waiting, struct scripts *scripts, uint64_t owner)
{
    struct script_stats before, stats;

    scripts_stats(scripts, &before);
    *waiting = (struct waiting){ .scripts = scripts, .owner = owner };
    pthread_create(&waiting->thread, NULL, note_turn, waiting);
    do
        scripts_stats(scripts, &stats);
    while (stats.waiting == before.waiting);
}

TEST(owners_take_turns_however_many_of_one_came_first)
{
    struct scripts *scripts = open_children(1);
    struct script_session *session;
    struct waiting waiting[5];

    memset(served, 0, sizeof(served));
    REQUIRE(script_begin(test_op(), scripts, CROWD, &session) == ST_OK);
    for (size_t i = 0; i < 4; i++)
        start_waiting(&waiting[i], scripts, CROWD);
    start_waiting(&waiting[4], scripts, OTHER);
    script_end(session);
    for (size_t i = 0; i < 5; i++)
        pthread_join(waiting[i].thread, NULL);
    CHECK(strcmp(served, "coccc") == 0);
    scripts_close(scripts);
}

/* Of four children one is not for an owner that has three; and no other is started for it. */
TEST(a_crowd_leaves_a_child_for_another_owner)
{
    struct scripts *scripts = open_children(4);
    struct script_session *session[4];
    struct script_stats stats;
    struct waiting waiting;

    memset(served, 0, sizeof(served));
    for (size_t i = 0; i < 3; i++)
        REQUIRE(script_begin(test_op(), scripts, CROWD, &session[i]) == ST_OK);
    start_waiting(&waiting, scripts, CROWD);
    REQUIRE(script_begin(test_op(), scripts, OTHER, &session[3]) == ST_OK);
    scripts_stats(scripts, &stats);
    CHECK(stats.waiting == 1 && stats.children == 4 && !served[0]);
    script_end(session[3]); /* the crowd's may not have this one either */
    scripts_stats(scripts, &stats);
    CHECK(stats.waiting == 1 && !served[0]);
    script_end(session[0]);
    pthread_join(waiting.thread, NULL);
    CHECK(strcmp(served, "c") == 0);
    for (size_t i = 1; i < 3; i++)
        script_end(session[i]);
    scripts_close(scripts);
}

struct beginning {
    struct scripts *scripts;
    uint64_t owner;
    struct script_session *session;
    atomic_bool done;
};

static void *begin_one(void *argument)
{
    struct beginning *beginning = argument;
    struct op op;

    begin_beside(&op);
    CHECK(script_begin(&op, beginning->scripts, beginning->owner, &beginning->session) == ST_OK);
    beginning->done = true;
    op_free(&op);
    return NULL;
}

/* When somebody waits, their clock is moved so far that another child is started. */
static void begin_with_another(struct scripts *scripts, struct env *env, uint64_t owner,
                               struct script_session **session)
{
    struct beginning beginning = { .scripts = scripts, .owner = owner };
    struct script_stats stats = { 0 };
    pthread_t thread;

    pthread_create(&thread, NULL, begin_one, &beginning);
    while (!beginning.done && stats.waiting == 0)
        scripts_stats(scripts, &stats);
    env_advance_ms(env, 100);
    pthread_join(thread, NULL);
    *session = beginning.session;
}

/* By their clock, which nobody moves then, no other child is started: who gets the idle one is decided. */
TEST(the_last_idle_child_is_not_for_who_has_one_for_every_core)
{
    struct env *env = env_seeded(1, 0);
    struct scripts *scripts = open_timed(env, 8);
    struct script_session *session[3] = { NULL }, *other;
    struct script_stats stats;
    struct waiting waiting;

    memset(served, 0, sizeof(served));
    for (size_t i = 0; i < 3; i++)
        begin_with_another(scripts, env, i < 2 ? CROWD : OTHER, &session[i]);
    REQUIRE(session[0] && session[1] && session[2]);
    script_end(session[2]);
    start_waiting(&waiting, scripts, CROWD);
    REQUIRE(script_begin(test_op(), scripts, OTHER, &other) == ST_OK); /* it was kept for such */
    scripts_stats(scripts, &stats);
    CHECK(stats.waiting == 1 && stats.children == 3 && !served[0]);
    script_end(session[0]);
    pthread_join(waiting.thread, NULL);
    CHECK(strcmp(served, "c") == 0);
    script_end(session[1]);
    script_end(other);
    scripts_close(scripts);
    env_free(env);
}
