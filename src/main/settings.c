/* src/main/settings.c - flags and environment variables to settings. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "main/emulator.h"
#include "main/settings.h"

enum kind { TEXT, FLAG, CHOICE, NUMBER, PORT, LIST }; /* a CHOICE is a flag that may also be told "no" */

struct flag {
    const char *name; /* without the dashes */
    enum kind kind;
    size_t offset; /* in struct settings */
    const char *value, *help;
};

enum { PORT_MAX = 65535, DEFAULT_PORT = 8081 };

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct flag flags[] = {
    { "data", TEXT, AT(data), "DIR", "where the data lives (data)" },
    { "backup-dir", TEXT, AT(backup_dir), "DIR", "below which copies are made (DATA/backups)" },
    { "ephemeral", FLAG, AT(ephemeral), NULL, "keep the data in a temporary directory, which goes with the server; writes are not synced" },
    { "init", TEXT, AT(init), "FILE|DIR", "databases, containers, scripts and items that are made before the first answer, where they are missing (docs/testing.md)" },
    { "listen", LIST, AT(listen), "ADDR:PORT", "where to listen; repeatable; port 0 picks one (localhost:8081)" },
    { "port", PORT, AT(port), "N", "the port on localhost, instead of --listen; 0 picks one (8081)" },
    { "write-endpoint", TEXT, AT(write_endpoint), "FILE", "write where it listens into FILE once it serves, and remove the file at the end" },
    { "store", TEXT, AT(store), "rocksdb|memory|postgresql://...", "what keeps the data: this directory; nothing, beyond the end; a PostgreSQL, as libpq has it (rocksdb)" },
    { "durability", TEXT, AT(durability), "sync|async", "async acknowledges writes before they are safe from power loss (sync)" },
    { "memory", NUMBER, AT(memory_mb), "MB", "what the server may have; beyond it clients are asked to come back (half of the machine's)" },
    { "cache-mb", NUMBER, AT(cache_mb), "N", "of that, the store's cache; the index has up to half as much again for what is new, as much for filters, an eighth for pages (a sixteenth, 1024 at most)" },
    { "key", TEXT, AT(key), "BASE64", "the primary key (the emulator's well-known one, on loopback only)" },
    { "key-file", TEXT, AT(key_file), "FILE", "keys, a name and its base64 a line: primary, secondary, primaryReadonly, secondaryReadonly" },
    { "allow-emulator-key", FLAG, AT(allow_emulator_key), NULL, "use the well-known key on any address: anybody can sign with it" },
    { "jwks", TEXT, AT(jwks), "FILE", "public keys of an identity provider, as JSON: bearer tokens signed with them are accepted" },
    { "jwt-issuer", TEXT, AT(jwt_issuer), "TEXT", "what such a token must have as its issuer" },
    { "jwt-audience", LIST, AT(jwt_audiences), "TEXT", "what it must have as its audience; repeatable" },
    { "roles", TEXT, AT(roles), "FILE", "who may do what with such a token, as JSON (docs/running.md)" },
    { "audit", TEXT, AT(audit), "FILE", "tells who was refused, and who changed definitions and keys, as JSON lines" },
    { "host-name", LIST, AT(host_names), "NAME", "a name clients reach this server by; repeatable" },
    { "public-endpoint", TEXT, AT(public_endpoint), "URL", "where clients should go, such as https://db.example:443 (where they came to)" },
    { "direct-endpoint", TEXT, AT(direct_endpoint), "HOST:PORT", "where clients in Direct mode find this server, and are told so by all that share its store (--public-endpoint)" },
    { "consistency", TEXT, AT(consistency), "Strong|BoundedStaleness|Session|ConsistentPrefix|Eventual", "the account's level; clients may ask for it and for weaker ones (Session)" },
    { "cors-origin", LIST, AT(cors_origins), "ORIGIN", "a web page's origin that may ask, such as http://localhost:3000; repeatable" },
    { "tls-cert", TEXT, AT(tls_cert), "FILE", "certificate in PEM (made at the first start, in DATA/tls)" },
    { "tls-key", TEXT, AT(tls_key), "FILE", "its private key" },
    { "tls-only", CHOICE, AT(tls_only), NULL, "refuse plain http, but from this machine itself; --tls-only=no takes it (yes beyond loopback)" },
    { "no-tls", FLAG, AT(no_tls), NULL, "speak http only" },
    { "no-direct", FLAG, AT(no_direct), NULL, "no Direct mode: clients must use gateway mode" },
    { "no-explorer", FLAG, AT(no_explorer), NULL, "no web page at /_explorer/" },
    { "change-retention-hours", NUMBER, AT(change_retention_hours), "N", "how long the change log keeps old versions, where a container's policy does not say (24)" },
    { "transaction-hours", NUMBER, AT(transaction_hours), "N", "how long it is remembered what became of a transaction, for clients that ask again (24)" },
    { "range-units", NUMBER, AT(range_units), "N", "RU/s that one partition key range serves (6000 of a new container with fixed throughput, else 10000)" },
    { "range-mb", NUMBER, AT(range_mb), "N", "what one range may hold before it is split (51200)" },
    { "buckets", NUMBER, AT(buckets), "N", "how many buckets a new container has at least, each a range with commits of its own (one in all; in PostgreSQL one for each range)" },
    { "enforce-throughput", FLAG, AT(enforce_throughput), NULL, "answer 429 to what is beyond a container's request units a second" },
    { "emulator", FLAG, AT(emulator), NULL, "stand in for the Cosmos DB emulators: any address and name, their key, flags and variables (docs/emulator.md)" },
    { "script-seconds", NUMBER, AT(script_seconds), "N", "how long a stored procedure, trigger or function may run (5)" },
    { "script-mb", NUMBER, AT(script_mb), "N", "memory that it may have (256)" },
    { "script-children", NUMBER, AT(script_children), "N", "how many of them run at a time, each in a process of its own (16)" },
    { "script-program", TEXT, AT(script_program), "FILE", "what runs them (orrery-js, beside this program)" },
    { "log", TEXT, AT(log), "error|warn|info|debug|json", "how much to say on standard error (info); json is info, in that format" },
    { "log-format", TEXT, AT(log_format), "text|json", "how to say it: a line of text, or a JSON object a line (text)" },
    { "slow-ms", NUMBER, AT(slow_ms), "N", "tell the log of requests that take so long, of queries with text and plan" },
    { "record", FLAG, AT(record), NULL, "record what clients ask for: queries without their values, partition keys, paths; for orrery advise" },
    { "otlp", TEXT, AT(otlp), "URL", "send a span of each request to this OpenTelemetry collector, by OTLP/HTTP as JSON" },
};
/* clang-format on */
enum { FLAG_COUNT = sizeof(flags) / sizeof(flags[0]) };

void settings_print_help(void)
{
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        char left[64];

        snprintf(left, sizeof(left), "--%s%s%s", flags[i].name, flags[i].value ? " " : "",
                 flags[i].value ? flags[i].value : "");
        printf("  %-36s %s\n", left, flags[i].help);
    }
}

static bool fail(const char *what, const char *name)
{
    fprintf(stderr, "orrery: %s%s (orrery --help lists the flags)\n", what, name);
    return false;
}

static bool is_no(const char *value)
{
    return strcmp(value, "false") == 0 || strcmp(value, "0") == 0 || strcmp(value, "no") == 0;
}

static bool set(struct settings *settings, const struct flag *flag, const char *value)
{
    void *target = (char *)settings + flag->offset;
    struct setting_list *list = target;
    char *end;

    switch (flag->kind) {
    case TEXT:
        *(const char **)target = value;
        return true;
    case FLAG:
        *(bool *)target = !is_no(value);
        return true;
    case CHOICE:
        *(int *)target = is_no(value) ? -1 : 1;
        return true;
    case NUMBER:
        *(long *)target = strtol(value, &end, 10);
        return (*value && !*end && *(long *)target > 0 && *(long *)target <= SETTING_NUMBER_MAX) ||
               fail("not a number from 1 to 1,000,000: --", flag->name);
    case PORT:
        *(long *)target = strtol(value, &end, 10);
        return (*value && !*end && *(long *)target >= 0 && *(long *)target <= PORT_MAX) ||
               fail("not a number from 0 to 65,535: --", flag->name);
    case LIST:
        if (list->count == SETTING_LIST_MAX)
            return fail("too many of --", flag->name);
        list->item[list->count++] = value;
        return true;
    }
    return false;
}

/* cache-mb to ORRERY_CACHE_MB */
static void variable_name(const char *flag, char *name, size_t size)
{
    snprintf(name, size, "ORRERY_%s", flag);
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? (char)(*c - 32) : *c;
}

static bool read_environment(struct settings *settings, const bool *given)
{
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        char name[64];
        const char *value;

        variable_name(flags[i].name, name, sizeof(name));
        value = getenv(name);
        if (value && !given[i] && !set(settings, &flags[i], value))
            return false;
    }
    return true;
}

static size_t find_flag(const char *name, size_t size)
{
    size_t i = 0;

    while (i < FLAG_COUNT && !(strlen(flags[i].name) == size && memcmp(flags[i].name, name, size) == 0))
        i++;
    return i;
}

bool settings_knows(const char *name, size_t size, bool *takes_value)
{
    size_t which = find_flag(name, size);

    *takes_value = which < FLAG_COUNT && flags[which].kind != FLAG && flags[which].kind != CHOICE;
    return which < FLAG_COUNT;
}

/* --name value, --name=value, or --name for a flag that has no value. */
static bool read_flags(struct settings *settings, int argc, char **argv, int from, bool *given)
{
    for (int i = from; i < argc; i++) {
        const char *name = argv[i] + 2, *equals = strchr(argv[i], '=');
        size_t which;

        if (strncmp(argv[i], "--", 2) != 0)
            return fail("not a flag: ", argv[i]);
        which = find_flag(name, equals ? (size_t)(equals - name) : strlen(name));
        if (which == FLAG_COUNT)
            return fail("no such flag: ", argv[i]);
        given[which] = true;
        if ((flags[which].kind == FLAG || flags[which].kind == CHOICE) && !equals)
            equals = "=true";
        if (!equals && i + 1 == argc)
            return fail("a value is missing behind ", argv[i]);
        if (!set(settings, &flags[which], equals ? equals + 1 : argv[++i]))
            return false;
    }
    return true;
}

/* Whether the value is one of the words in the flag's row: sync|async */
static bool is_choice(const char *name, const char *value)
{
    size_t which = find_flag(name, strlen(name)), size = strlen(value);
    const char *choice;

    assert(which < FLAG_COUNT); /* settings_read() asks for rows that there are */
    choice = flags[which].value;
    while (*choice) {
        size_t length = strcspn(choice, "|");

        if (length == size && memcmp(choice, value, size) == 0)
            return true;
        choice += length + (choice[length] == '|');
    }
    return fail("not a value for --", name);
}

bool settings_is_database(const char *text)
{
    size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz_");

    return strncmp(text, "postgresql://", 13) == 0 || strncmp(text, "postgres://", 11) == 0 ||
           (word > 0 && text[word + strspn(text + word, " ")] == '=');
}

bool settings_in_postgres(const struct settings *settings)
{
    return settings_is_database(settings->store);
}

bool settings_has_directory(const struct settings *settings)
{
    return strcmp(settings->store, "rocksdb") == 0;
}

static bool is_store(const struct settings *settings)
{
    return settings_in_postgres(settings) || is_choice("store", settings->store);
}

/* http or https, a host, a port or none. It goes into JSON as it stands. */
static bool is_endpoint(const char *url)
{
    const char *host = strstr(url, "://");
    size_t size =
        host ? strspn(host + 3, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:[]") : 0;

    if ((strncmp(url, "https://", 8) == 0 || strncmp(url, "http://", 7) == 0) && size > 0 &&
        (host[3 + size] == '\0' || strcmp(host + 3 + size, "/") == 0))
        return true;
    return fail("not like https://name or https://name:port: --", "public-endpoint");
}

/* A host and a port. It goes into JSON and into the store as it stands. */
static bool is_authority(const char *address)
{
    size_t size = strspn(address, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:[]");
    const char *port = strrchr(address, ':');

    if (size > 0 && size <= STORE_ENDPOINT_MAX && address[size] == '\0' && port && port > address &&
        port[1] && strspn(port + 1, "0123456789") == strlen(port + 1))
        return true;
    return fail("not like name:port: --", "direct-endpoint");
}

void settings_default(struct settings *settings)
{
    *settings = (struct settings){ .data = "data",
                                   .store = "rocksdb",
                                   .durability = "sync",
                                   .port = -1,
                                   .log = "info",
                                   .log_format = "text",
                                   .consistency = "Session",
                                   .change_retention_hours = CHANGE_RETENTION_HOURS_DEFAULT,
                                   .transaction_hours = TRANSACTION_KEPT_HOURS_DEFAULT,
                                   .range_mb = RANGE_MB_MAX,
                                   .script_seconds = SCRIPT_SECONDS_DEFAULT,
                                   .script_mb = SCRIPT_MB_DEFAULT,
                                   .script_children = SCRIPT_CHILDREN_MAX };
}

/* --port N is a short way to write --listen localhost:N, which is also what holds without either. */
static bool settle_listen(struct settings *settings)
{
    if (settings->listen.count)
        return settings->port < 0 || fail("--listen has a port already: --", "port");
    snprintf(settings->local_address, sizeof(settings->local_address), "localhost:%ld",
             settings->port < 0 ? DEFAULT_PORT : settings->port);
    settings->listen = (struct setting_list){ .item = { settings->local_address }, .count = 1 };
    return true;
}

/* What goes with the server need not survive a power cut. */
static bool settle_data(struct settings *settings)
{
    if (settings->ephemeral && settings->data)
        return fail("the data is kept, or it is not: --ephemeral and --", "data");
    if (!settings->data)
        settings->data = "data";
    if (!settings->durability)
        settings->durability = settings->ephemeral ? "async" : "sync";
    return true;
}

bool settings_read(struct settings *settings, int argc, char **argv, int from)
{
    bool given[FLAG_COUNT] = { false };
    char *ours[EMULATOR_WORDS_MAX];

    settings_default(settings);
    settings->data = settings->durability = NULL;
    settings->emulator = emulator_is_wanted(argc, argv, from);
    if (settings->emulator) {
        if (!emulator_read(settings, argc, argv, from, ours, &argc))
            return false;
        argv = ours;
        from = 0;
    }
    if (!read_flags(settings, argc, argv, from, given) || !read_environment(settings, given))
        return false;
    if (settings->emulator && !emulator_settle(settings))
        return false;
    if (!settle_listen(settings) || !settle_data(settings))
        return false;
    if (!settings->tls_cert != !settings->tls_key)
        return fail("--tls-cert and --tls-key go together", "");
    if (settings->tls_only > 0 &&
        (settings->no_tls || (!settings_has_directory(settings) && !settings->tls_cert)))
        return fail("there is no https, so there would be nothing: --", "tls-only");
    if (settings->script_children > SCRIPT_CHILDREN_MAX)
        return fail("more than there are threads for (16): --", "script-children");
    if (settings->buckets > CONTAINER_RANGES_MAX)
        return fail("more than a container has ranges: --", "buckets");
    if (strcmp(settings->log, "json") == 0) {
        settings->log = "info";
        settings->log_format = "json";
    }
    return is_choice("log-format", settings->log_format) && is_store(settings) &&
           is_choice("durability", settings->durability) && is_choice("log", settings->log) &&
           is_choice("consistency", settings->consistency) &&
           (!settings->public_endpoint || is_endpoint(settings->public_endpoint)) &&
           (!settings->direct_endpoint || is_authority(settings->direct_endpoint));
}

/* 127.example.com is a name and no address. */
static bool is_loopback(const char *address)
{
    size_t digits = strspn(address, "0123456789.");

    return (strncmp(address, "127.", 4) == 0 && address[digits] == ':') ||
           strncmp(address, "[::1]:", 6) == 0 || strncmp(address, "localhost:", 10) == 0;
}

bool settings_only_loopback(const struct setting_list *listen)
{
    for (size_t i = 0; i < listen->count; i++)
        if (!is_loopback(listen->item[i]))
            return false;
    return true;
}

bool settings_tls_only(const struct settings *settings)
{
    return settings->tls_only ? settings->tls_only > 0 : !settings_only_loopback(&settings->listen);
}
