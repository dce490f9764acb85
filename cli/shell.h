/* cli/shell.h - a shell: where it stands, how it prints, and what its commands are told. */
#pragma once
#include "connect.h"
#include "print.h"
#include "query.h"

struct lines;
struct paths;

struct shell {
    struct cli cli;
    struct text here; /* "", "dbs/x", "dbs/x/colls/y" */
    enum format format;
    bool charge, timing, explain;
    bool ended;          /* by exit */
    bool colours;        /* on standard output */
    struct paths *paths; /* of the container, for completion */
};

/* Runs one statement. False: it failed, and that was told. */
bool shell_run(struct shell *shell, const char *statement);

int shell_command(const struct options *options);
