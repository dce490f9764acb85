/* src/main/emulator.c - flags and variables of the Cosmos DB emulators, as settings of ours. */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "main/emulator.h"

extern char **environ;

enum { PORT_DEFAULT = 8081, EXPLORER_PORT_DEFAULT = 1234, HEALTH_PORT_DEFAULT = 8080, NOTES_MAX = 32 };
enum { KEY_FILE_BYTES_MAX = 4096, ARGS_BYTES_MAX = 4096, TEXT_SIZE = 320 };

/* Below it the old Linux image keeps its certificate, and Testcontainers for Python copies it from there. */
static const char certificate_directory[] =
    "/tmp/cosmos/appdata/.system/profiles/Client/AppData/Local/CosmosDBEmulator";

/* What was passed over, for the log, which is not open yet. */
struct note {
    const char *word, *why;
    enum log_level level;
};

/* What the emulators' words have said so far. The process has one of them, and settings point into it. */
static struct emulator {
    long port, explorer_port, health_port;
    bool is_https, no_explorer;
    const char *public_endpoint;
    struct note notes[NOTES_MAX];
    size_t note_count;
    char listen[TEXT_SIZE], health_listen[TEXT_SIZE], explorer_listen[TEXT_SIZE], public_url[TEXT_SIZE];
    char key[KEY_FILE_BYTES_MAX + 1], args[ARGS_BYTES_MAX + 1];
} emulator;

static void note(const char *word, const char *why, enum log_level level)
{
    if (emulator.note_count < NOTES_MAX)
        emulator.notes[emulator.note_count++] = (struct note){ word, why, level };
}

static bool fail(const char *what, const char *value)
{
    fprintf(stderr, "orrery: %s: %s (docs/emulator.md)\n", what, value);
    return false;
}

static bool is_false(const char *value)
{
    return strcasecmp(value, "false") == 0 || strcasecmp(value, "no") == 0 || strcmp(value, "0") == 0;
}

static bool is_bool(const char *value)
{
    return is_false(value) || strcasecmp(value, "true") == 0 || strcasecmp(value, "yes") == 0 ||
           strcmp(value, "1") == 0;
}

/* --- what each word does --- */

static bool read_port(const char *value, long *port)
{
    char *end;

    *port = strtol(value, &end, 10);
    return (isdigit((unsigned char)*value) && !*end && *port <= UINT16_MAX) || fail("not a port", value);
}

static bool set_port(struct settings *settings, const char *value)
{
    (void)settings;
    return read_port(value, &emulator.port);
}

static bool set_explorer_port(struct settings *settings, const char *value)
{
    (void)settings;
    return read_port(value, &emulator.explorer_port);
}

static bool set_health_port(struct settings *settings, const char *value)
{
    (void)settings;
    return read_port(value, &emulator.health_port);
}

/* Every port speaks both. This decides what is printed, and where a bare name of GATEWAY_PUBLIC_ENDPOINT leads. */
static bool set_protocol(struct settings *settings, const char *value)
{
    (void)settings;
    emulator.is_https = strcmp(value, "https") == 0 || strcmp(value, "https-insecure") == 0;
    return emulator.is_https || strcmp(value, "http") == 0 || fail("not http or https", value);
}

static bool set_explorer(struct settings *settings, const char *value)
{
    (void)settings;
    emulator.no_explorer = is_false(value);
    return true;
}

static bool set_data(struct settings *settings, const char *value)
{
    settings->data = value;
    return true;
}

static bool set_key(struct settings *settings, const char *value)
{
    settings->key = value;
    return true;
}

/* Theirs has a key and nothing else; a file with names and keys is one of ours. */
static bool set_key_file(struct settings *settings, const char *path)
{
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(emulator.key, 1, KEY_FILE_BYTES_MAX, file) : 0;

    if (file)
        fclose(file);
    while (size > 0 && isspace((unsigned char)emulator.key[size - 1]))
        size--;
    emulator.key[size] = '\0';
    if (size > 0 && strcspn(emulator.key, " \t\r\n") == size)
        settings->key = emulator.key;
    else
        settings->key_file = path;
    return true;
}

/* Anybody may have set a variable of this name for another program. */
static bool set_log(struct settings *settings, const char *value)
{
    static const char *const levels[][2] = { { "quiet", "error" }, { "error", "error" },
                                             { "warn", "warn" },   { "warning", "warn" },
                                             { "info", "info" },   { "information", "info" },
                                             { "debug", "debug" }, { "trace", "debug" } };

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (strcasecmp(value, levels[i][0]) == 0) {
            settings->log = levels[i][1];
            return true;
        }
    note("LOG_LEVEL", "not a level that is known", LOG_WARN);
    return true;
}

static bool set_public_endpoint(struct settings *settings, const char *value)
{
    (void)settings;
    emulator.public_endpoint = value;
    return true;
}

static bool set_rate_limiting(struct settings *settings, const char *value)
{
    settings->enforce_throughput = !is_false(value);
    return true;
}

static bool set_no_rate_limiting(struct settings *settings, const char *value)
{
    settings->enforce_throughput = is_false(value);
    return true;
}

static bool set_consistency(struct settings *settings, const char *value)
{
    settings->consistency = value;
    return true;
}

/* Where to is said by the variable that every program with OpenTelemetry reads. */
static bool set_otlp(struct settings *settings, const char *value)
{
    const char *url = getenv("OTEL_EXPORTER_OTLP_ENDPOINT");

    if (is_false(value))
        return true;
    if (url && *url)
        settings->otlp = url;
    else
        note("ENABLE_OTLP_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT does not say where to", LOG_WARN);
    return true;
}

/* It is so here without being asked for. */
static bool is_so(struct settings *settings, const char *value)
{
    (void)settings, (void)value;
    return true;
}

/* --- the words --- */

enum takes { NOTHING, VALUE, MAYBE /* true or false may follow */ };

struct foreign {
    const char *name;     /* --name exactly, or /name in any case; NULL: it is a variable only */
    const char *variable; /* NULL: none */
    enum takes takes;
    bool (*set)(struct settings *settings, const char *value); /* NULL: it is passed over */
    const char *why;                                           /* of what is passed over */
    enum log_level level;
};

static const char elsewhere[] = "this server speaks the API for NoSQL only";
static const char trace_why[] = "its own measures are at /_orrery/metrics";

#define OLD "AZURE_COSMOS_EMULATOR_"

/* clang-format off */
static const struct foreign foreigns[] = {
    /* of the Linux emulator that was called vNext */
    { "port", "PORT", VALUE, set_port, NULL, LOG_INFO },
    { "protocol", "PROTOCOL", VALUE, set_protocol, NULL, LOG_INFO },
    { "enable-explorer", "ENABLE_EXPLORER", MAYBE, set_explorer, NULL, LOG_INFO },
    { "explorer-port", "EXPLORER_PORT", VALUE, set_explorer_port, NULL, LOG_INFO },
    { "explorer-protocol", "EXPLORER_PROTOCOL", VALUE, is_so, NULL, LOG_INFO },
    { "health-port", "HEALTH_PORT", VALUE, set_health_port, NULL, LOG_INFO },
    { "key-file", "KEY_FILE", VALUE, set_key_file, NULL, LOG_INFO },
    { "data-path", "DATA_PATH", VALUE, set_data, NULL, LOG_INFO },
    { "log-level", "LOG_LEVEL", VALUE, set_log, NULL, LOG_INFO },
    { "gateway-public-endpoint", "GATEWAY_PUBLIC_ENDPOINT", VALUE, set_public_endpoint, NULL, LOG_INFO },
    { "enable-telemetry", "ENABLE_TELEMETRY", MAYBE, NULL, "nothing is ever sent to anybody", LOG_INFO },
    { "enable-otlp-exporter", "ENABLE_OTLP_EXPORTER", MAYBE, set_otlp, NULL, LOG_INFO },
    { "enable-console-exporter", "ENABLE_CONSOLE_EXPORTER", MAYBE, NULL, trace_why, LOG_INFO },
    { "cert-path", "CERT_PATH", VALUE, NULL, "give --tls-cert and --tls-key, in PEM", LOG_WARN },
    { "cert-secret", "CERT_SECRET", VALUE, NULL, "give --tls-cert and --tls-key, in PEM", LOG_WARN },
    /* of the Windows emulator, and of the Linux image that has it inside */
    { "KeyFile", NULL, VALUE, set_key_file, NULL, LOG_INFO },
    { "Key", OLD "KEY", VALUE, set_key, NULL, LOG_INFO },
    { "DataPath", NULL, VALUE, set_data, NULL, LOG_INFO },
    { "Consistency", NULL, VALUE, set_consistency, NULL, LOG_INFO },
    { "EnableRateLimiting", NULL, MAYBE, set_rate_limiting, NULL, LOG_INFO },
    { "DisableRateLimiting", NULL, MAYBE, set_no_rate_limiting, NULL, LOG_INFO },
    { "AllowNetworkAccess", NULL, NOTHING, is_so, NULL, LOG_INFO },
    { "EnableAadAuthentication", NULL, NOTHING, is_so, NULL, LOG_INFO },
    { "EnablePreview", NULL, NOTHING, is_so, NULL, LOG_INFO },
    { "NoExplorer", NULL, NOTHING, is_so, NULL, LOG_INFO },
    { "NoUI", NULL, NOTHING, is_so, NULL, LOG_INFO },
    { "NoTelemetry", NULL, NOTHING, is_so, NULL, LOG_INFO },
    { "NoFirewall", NULL, NOTHING, is_so, NULL, LOG_INFO },
    { "PartitionCount", OLD "PARTITION_COUNT", VALUE, NULL, "there may be any number of containers", LOG_INFO },
    { "DefaultPartitionCount", OLD "DEFAULT_PARTITION_COUNT", VALUE, NULL, "ranges follow from throughput: --range-units", LOG_INFO },
    { "DirectPorts", NULL, VALUE, NULL, "Direct mode is on the port of everything else", LOG_INFO },
    { NULL, OLD "IP_ADDRESS_OVERRIDE", VALUE, NULL, "clients are sent to where they came to", LOG_INFO },
    { NULL, OLD "ENABLE_DATA_PERSISTENCE", VALUE, NULL, "data is kept, unless --store memory", LOG_INFO },
    { NULL, OLD "ENABLE_TELEMETRY", VALUE, NULL, "nothing is ever sent to anybody", LOG_INFO },
    { "FailOnSslCertificateNameMismatch", NULL, NOTHING, NULL, "a certificate is made once, and kept", LOG_INFO },
    { "ComputePort", NULL, VALUE, NULL, elsewhere, LOG_INFO },
    { "SqlComputePort", NULL, VALUE, NULL, elsewhere, LOG_INFO },
    { "EnableSqlComputeEndpoint", NULL, NOTHING, NULL, elsewhere, LOG_INFO },
    { "MongoPort", NULL, VALUE, NULL, elsewhere, LOG_INFO },
    { "CassandraPort", NULL, VALUE, NULL, elsewhere, LOG_INFO },
    { "GremlinPort", NULL, VALUE, NULL, elsewhere, LOG_INFO },
    { "TablePort", NULL, VALUE, NULL, elsewhere, LOG_INFO },
    { "EnableMongoDbEndpoint", OLD "ENABLE_MONGODB_ENDPOINT", MAYBE, NULL, elsewhere, LOG_WARN },
    { "EnableCassandraEndpoint", NULL, MAYBE, NULL, elsewhere, LOG_WARN },
    { "EnableGremlinEndpoint", NULL, MAYBE, NULL, elsewhere, LOG_WARN },
    { "EnableTableEndpoint", NULL, MAYBE, NULL, elsewhere, LOG_WARN },
};
/* clang-format on */
enum { FOREIGN_COUNT = sizeof(foreigns) / sizeof(foreigns[0]) };

static bool apply(struct settings *settings, const struct foreign *row, const char *word, const char *value)
{
    if (row->set)
        return row->set(settings, value);
    note(word, row->why, row->level);
    return true;
}

static const struct foreign *find_foreign(const char *word, size_t name_size)
{
    bool by_slash = word[0] == '/';
    const char *name = word + (by_slash ? 1 : 2);

    for (size_t i = 0; i < FOREIGN_COUNT; i++)
        if (foreigns[i].name && strlen(foreigns[i].name) == name_size &&
            (by_slash ? strncasecmp(name, foreigns[i].name, name_size)
                      : strncmp(name, foreigns[i].name, name_size)) == 0)
            return &foreigns[i];
    return NULL;
}

/* A value that stands in the next word: those of the Windows emulator always stand in the same. */
static const char *next_value(const struct foreign *row, bool by_slash, int argc, char **argv, int *at)
{
    bool has_next = *at + 1 < argc && strncmp(argv[*at + 1], "--", 2) != 0;

    if (row->takes == VALUE && has_next && !by_slash)
        return argv[++*at];
    if (row->takes == MAYBE && has_next && !by_slash && is_bool(argv[*at + 1]))
        return argv[++*at];
    return row->takes == VALUE ? NULL : "true";
}

static bool keep(char *words[EMULATOR_WORDS_MAX], int *count, char *word)
{
    if (*count == EMULATOR_WORDS_MAX)
        return fail("more words than are read", word);
    words[(*count)++] = word;
    return true;
}

/* One word and its value: theirs is taken up, ours is kept for settings_read(), and what nobody knows is passed over. */
static bool read_word(struct settings *settings, int argc, char **argv, int *at,
                      char *words[EMULATOR_WORDS_MAX], int *count)
{
    char *word = argv[*at];
    bool by_slash = word[0] == '/', by_dashes = strncmp(word, "--", 2) == 0, takes_value;
    const char *name = word + (by_slash ? 1 : 2);
    size_t name_size = by_slash || by_dashes ? strcspn(name, by_slash ? "=:" : "=") : 0;
    const struct foreign *row = name_size ? find_foreign(word, name_size) : NULL;
    const char *value = row && name[name_size] ? name + name_size + 1 : NULL;

    if (row) {
        if (!value)
            value = next_value(row, by_slash, argc, argv, at);
        return value ? apply(settings, row, word, value) : fail("a value is missing behind", word);
    }
    if (by_dashes && settings_knows(name, name_size, &takes_value)) {
        if (!keep(words, count, word))
            return false;
        return !takes_value || name[name_size] == '=' || *at + 1 == argc || keep(words, count, argv[++*at]);
    }
    note(word, "nobody knows it", LOG_WARN);
    if (by_dashes && name[name_size] != '=' && *at + 1 < argc && argv[*at + 1][0] != '-')
        ++*at;
    return true;
}

/* --- variables --- */

static bool read_variable(struct settings *settings, const struct foreign *row)
{
    const char *value = row->variable ? getenv(row->variable) : NULL;

    return !value || !*value || apply(settings, row, row->variable, value);
}

/* AZURE_COSMOS_EMULATOR_ARGS has words of the Windows emulator. */
static bool read_args(struct settings *settings)
{
    const char *given = getenv(OLD "ARGS");
    char *words[EMULATOR_WORDS_MAX], *ours[EMULATOR_WORDS_MAX];
    int count = 0, our_count = 0;

    if (!given)
        return true;
    snprintf(emulator.args, sizeof(emulator.args), "%s", given);
    for (char *at = emulator.args; *(at += strspn(at, " \t")) && count < EMULATOR_WORDS_MAX;) {
        words[count++] = at;
        at += strcspn(at, " \t");
        if (*at)
            *at++ = '\0';
    }
    for (int i = 0; i < count; i++)
        if (!read_word(settings, count, words, &i, ours, &our_count))
            return false;
    for (int i = 0; i < our_count; i++)
        note(ours[i], "our own flags stand on the command line", LOG_WARN);
    return true;
}

/* What there is of that name and no row has. */
static void note_other_variables(void)
{
    for (char **at = environ; *at; at++) {
        size_t size = strcspn(*at, "=");
        bool known = strncmp(*at, OLD "ARGS=", sizeof(OLD "ARGS=") - 1) == 0;

        if (strncmp(*at, OLD, sizeof(OLD) - 1) != 0)
            continue;
        for (size_t i = 0; i < FOREIGN_COUNT; i++)
            known |= foreigns[i].variable && strlen(foreigns[i].variable) == size &&
                     strncmp(*at, foreigns[i].variable, size) == 0;
        if (!known)
            note(*at, "nobody knows it", LOG_WARN);
    }
}

/* --- the calls --- */

bool emulator_is_wanted(int argc, char **argv, int from)
{
    const char *variable = getenv("ORRERY_EMULATOR");
    bool wanted = variable && !is_false(variable);

    for (int i = from; i < argc; i++)
        if (strcmp(argv[i], "--emulator") == 0 || strncmp(argv[i], "--emulator=", 11) == 0)
            wanted = argv[i][10] == '\0' || !is_false(argv[i] + 11);
    return wanted;
}

static bool is_usable_directory(const char *path)
{
    struct stat found;

    return stat(path, &found) == 0 && S_ISDIR(found.st_mode) && access(path, R_OK | W_OK | X_OK) == 0;
}

bool emulator_read(struct settings *settings, int argc, char **argv, int from,
                   char *words[EMULATOR_WORDS_MAX], int *count)
{
    *count = 0;
    emulator = (struct emulator){ .port = PORT_DEFAULT,
                                  .explorer_port = EXPLORER_PORT_DEFAULT,
                                  .health_port = HEALTH_PORT_DEFAULT };
    for (size_t i = 0; i < FOREIGN_COUNT; i++)
        if (!read_variable(settings, &foreigns[i]))
            return false;
    note_other_variables();
    if (!read_args(settings))
        return false;
    for (int i = from; i < argc; i++)
        if (!read_word(settings, argc, argv, &i, words, count))
            return false;
    return true;
}

/* A name by itself, a name and a port, or a whole URL. */
static void settle_public_endpoint(struct settings *settings)
{
    const char *given = emulator.public_endpoint, *scheme = emulator.is_https ? "https" : "http";

    if (!given || settings->public_endpoint)
        return;
    if (strstr(given, "://"))
        snprintf(emulator.public_url, sizeof(emulator.public_url), "%s", given);
    else if (strchr(given, ':'))
        snprintf(emulator.public_url, sizeof(emulator.public_url), "%s://%s", scheme, given);
    else
        snprintf(emulator.public_url, sizeof(emulator.public_url), "%s://%s:%ld", scheme, given,
                 emulator.port);
    settings->public_endpoint = emulator.public_url;
}

/* Where nothing listens when somebody else does: the program goes on without. */
static void add_optional(struct settings *settings, char text[TEXT_SIZE], long port)
{
    if (port && port == emulator.port)
        return;
    snprintf(text, TEXT_SIZE, "*:%ld", port);
    settings->optional_listen.item[settings->optional_listen.count++] = text;
}

bool emulator_settle(struct settings *settings)
{
    settings->allow_emulator_key = true;
    if (!settings->data && !settings->ephemeral && is_usable_directory("/data"))
        settings->data = "/data";
    if (settings->tls_only == 0)
        settings->tls_only = -1;
    settle_public_endpoint(settings);
    if (settings->host_names.count == SETTING_LIST_MAX)
        return fail("too many of", "--host-name");
    settings->host_names.item[settings->host_names.count++] = "*";
    if (settings->listen.count > 0) /* somebody has said where, and wants no other place */
        return true;
    snprintf(emulator.listen, sizeof(emulator.listen), "*:%ld", emulator.port);
    settings->listen.item[settings->listen.count++] = emulator.listen;
    add_optional(settings, emulator.health_listen, emulator.health_port);
    if (!emulator.no_explorer)
        add_optional(settings, emulator.explorer_listen, emulator.explorer_port);
    return true;
}

void emulator_log(void)
{
    for (size_t i = 0; i < emulator.note_count; i++) {
        const struct note *passed = &emulator.notes[i];
        struct slice name =
            slice_make(passed->word, strcspn(passed->word, "=:")); /* its value may be a secret */

        log_line(passed->level, "passed over: %s (%s)", log_quote(name).text, passed->why);
    }
}

/*
 * Testcontainers for Java waits for a piece of output that ends with Started, CR and LF, that for Python for output
 * that ends so, and those for Node.js and Go for the words alone. So it is written by itself, and last.
 */
void emulator_announce(const char *address)
{
    printf("Now listening on: %s://%s\n", emulator.is_https ? "https" : "http", address);
    fflush(stdout);
    fputs("Started\r\n", stdout);
    fflush(stdout);
}

/* The directory is in a place where others may make one: it must be ours alone, and lead nowhere else. */
static bool is_ours(const char *path)
{
    char *real = realpath(path, NULL);
    struct stat found;
    bool ours = real && strcmp(real, path) == 0 && lstat(path, &found) == 0 && S_ISDIR(found.st_mode) &&
                found.st_uid == geteuid() && (found.st_mode & 022) == 0;

    free(real);
    return ours;
}

void emulator_leave_certificate(const char *certificate_file)
{
    char path[sizeof(certificate_directory) + sizeof("/emulator.pem")], text[4096];
    int from, to;
    ssize_t size;

    if (!certificate_file || !is_ours(certificate_directory))
        return;
    snprintf(path, sizeof(path), "%s/emulator.pem", certificate_directory);
    from = open(certificate_file, O_RDONLY | O_CLOEXEC);
    to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    while (from >= 0 && to >= 0 && (size = read(from, text, sizeof(text))) > 0)
        if (write(to, text, (size_t)size) != size)
            break;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    else
        log_line(LOG_WARN, "cannot leave the certificate in %s", path);
}
