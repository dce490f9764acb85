/* cli/options.h - the words behind a command: its flags, what is not a flag, and the same from the environment. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { WORDS_MAX = 4096, PARAMETERS_MAX = 64 };

/* Which commands take a flag. */
enum command_bit {
    FOR_SHELL = 1,
    FOR_QUERY = 2,
    FOR_IMPORT = 4,
    FOR_EXPORT = 8,
    FOR_WAIT = 16,
    FOR_SAMPLES = 32,
    FOR_ADVISE = 64,
    FOR_RESHAPE = 128,
    FOR_ALL = 255,
};

/* Texts are those of argv and of the environment. */
struct options {
    const char *endpoint, *key, *token, *ca_file;
    bool insecure;
    const char *in, *format, *file, *text, *pk;
    const char *parameter[PARAMETERS_MAX]; /* "@age=30" */
    size_t parameter_count;
    bool charge, timing, explain;
    const char *to, *id, *mode, *rejects, *resume;
    long batch, in_flight, rows;
    const char *out, *query, *from;
    bool all, system, live, quiet;
    long timeout_s;
    bool json;
    const char *fail_on, *html, *try;
    bool values;
    bool switches, follow, cancel;
    const char *word[WORDS_MAX]; /* what is no flag */
    size_t word_count;
};

/* False: it was told on standard error what is wrong, and the program ends with 2. */
bool options_read(struct options *options, enum command_bit command, int argc, char **argv);

/* The flags of one command, a line each. */
void options_print_help(enum command_bit command);
