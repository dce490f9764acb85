/*
 * src/main/settings.h - what the server is told: flags, and the environment.
 * Each flag is also a variable: --cache-mb is ORRERY_CACHE_MB. A flag wins over its variable.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { SETTING_LIST_MAX = 16, SETTING_NUMBER_MAX = 1000000 };

struct setting_list {
    const char *item[SETTING_LIST_MAX];
    size_t count;
};

struct settings {
    const char *data, *store, *durability, *key, *key_file, *tls_cert, *tls_key, *log, *script_program;
    const char *jwks, *jwt_issuer, *roles, *audit, *consistency, *public_endpoint, *direct_endpoint,
        *backup_dir;
    const char *log_format, *otlp, *write_endpoint, *init;
    struct setting_list listen, host_names, cors_origins, jwt_audiences;
    struct setting_list optional_listen; /* where it listens if nobody else does */
    int tls_only;                        /* 1: yes, -1: no, 0: settings_tls_only() decides */
    bool allow_emulator_key, no_tls, no_direct, no_explorer, enforce_throughput, emulator, ephemeral, record;
    long memory_mb, cache_mb; /* 0: memory_settle() finds them */
    long range_units, range_mb, buckets, script_seconds, script_mb, script_children;
    long change_retention_hours;
    long transaction_hours;
    long slow_ms; /* 0: nothing is slow */
    long port;    /* -1: none was given */
    char local_address
        [32]; /* `listen` points here where nothing else was given: such settings are not copied */
};

/* What holds where nobody says anything: no address, and no memory but what memory_settle() finds. */
void settings_default(struct settings *settings);

/* Reads flags from argv[from] on. False after telling standard error what is wrong. */
bool settings_read(struct settings *settings, int argc, char **argv, int from);

/* Whether there is a flag of that name, without its dashes, and whether a value follows it. */
bool settings_knows(const char *name, size_t size, bool *takes_value);

/* The flags, one a line, with their defaults. */
void settings_print_help(void);

/* Whether the text says how to connect to a PostgreSQL, as libpq has it: a URI, or "host=... dbname=...". Else it is a path. */
bool settings_is_database(const char *text);

/* Whether the data is in a PostgreSQL, and whether it is in a directory of this machine. */
bool settings_in_postgres(const struct settings *settings);
bool settings_has_directory(const struct settings *settings);

/* Whether plain http is refused: as told, or else where it listens beyond loopback. */
bool settings_tls_only(const struct settings *settings);

/* Whether every address of the list is a loopback address or name. */
bool settings_only_loopback(const struct setting_list *listen);
