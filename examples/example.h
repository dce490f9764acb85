/*
 * examples/example.h - what the examples share: a client for the whole program, and how a program ends when a call fails.
 */
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static orrery_client *client;

/* Ends the program where going on makes no sense. */
static inline void must_of(orrery_status status, const orrery_client *of)
{
    if (!orrery_failed(status))
        return;
    fprintf(stderr, "%s: %s\n", orrery_status_text(status), of ? orrery_error(of) : "");
    exit(1);
}

static inline void must(orrery_status status)
{
    must_of(status, client);
}

/*
 * Where the database is. A program is called with a server's address and its key, and perhaps with the word "direct", for
 * Direct mode; or, if it is linked with liborrery-embedded, with a directory, or with the word "memory".
 */
static inline orrery_settings settings_from(int argc, char **argv)
{
    orrery_settings settings = { .size = sizeof(settings), .trust_any_certificate = 1 };
    const char *place = argc > 1 ? argv[1] : "";

    if (argc > 2 || strncmp(place, "http", 4) == 0) {
        settings.endpoint = place;
        settings.key = argc > 2 ? argv[2] : NULL;
        settings.direct = argc > 3 && strcmp(argv[argc - 1], "direct") == 0;
    } else if (strcmp(place, "memory") == 0) {
        settings.memory = 1;
    } else {
        settings.directory = place;
    }
    return settings;
}

/* Those of one more client of the same database. One in memory has no name: it is named by a client that has it. */
static inline orrery_settings settings_of_another(int argc, char **argv)
{
    orrery_settings settings = settings_from(argc, argv);

    if (settings.memory) {
        settings.memory = 0;
        settings.database_of = client;
    }
    return settings;
}

static inline void open_client(int argc, char **argv)
{
    orrery_settings settings = settings_from(argc, argv);
    char why[256] = "";
    orrery_status status;

    settings.why = why;
    settings.why_size = sizeof(why);
    status = orrery_open(&settings, &client);
    if (status == ORRERY_OK)
        return;
    fprintf(stderr, "%s: %s\n", orrery_status_text(status), why);
    exit(1);
}
