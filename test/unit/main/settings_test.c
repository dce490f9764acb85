/* test/unit/main/settings_test.c - flags, variables, defaults and refusals. Refusals are told on standard error. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "main/settings.h"
#include "test.h"

enum { ARGUMENTS_MAX = 40 };

/* Reads a line of arguments, with the variables of the test's own environment. */
static bool read_line(struct settings *settings, const char *line)
{
    static char copy[1000];
    char *argv[ARGUMENTS_MAX] = { (char *)"orrery", (char *)"serve" };
    int argc = 2;

    snprintf(copy, sizeof(copy), "%s", line);
    for (char *at = copy; *at && argc < ARGUMENTS_MAX;) {
        argv[argc++] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = '\0';
    }
    return settings_read(settings, argc, argv, 2);
}

/* What it says on standard error; the file is the test's own. */
static const char *complaint_about(const char *line)
{
    static char text[300];
    struct settings settings;
    char path[200];
    int saved = dup(STDERR_FILENO), file;
    ssize_t size;
    bool accepted;

    snprintf(path, sizeof(path), "%s/complaint", test_directory());
    file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDERR_FILENO);
    accepted = read_line(&settings, line);
    dup2(saved, STDERR_FILENO);
    size = pread(file, text, sizeof(text) - 1, 0);
    close(file);
    close(saved);
    text[size > 0 ? size : 0] = '\0';
    return accepted ? "accepted" : text;
}

TEST(without_flags_everything_has_a_default)
{
    struct settings settings;

    CHECK(read_line(&settings, ""));
    CHECK(strcmp(settings.data, "data") == 0 && strcmp(settings.store, "rocksdb") == 0);
    CHECK(strcmp(settings.durability, "sync") == 0 && strcmp(settings.log, "info") == 0);
    CHECK(settings.cache_mb == 0 && settings.memory_mb == 0 && !settings.key &&
          !settings.allow_emulator_key && !settings.no_tls);
    CHECK(settings.listen.count > 0 && settings_only_loopback(&settings.listen));
    CHECK(settings.host_names.count == 0 && settings.cors_origins.count == 0);
}

TEST(a_value_stands_behind_its_flag_or_behind_an_equals_sign)
{
    struct settings settings;

    CHECK(read_line(&settings,
                    "--data d --store=memory --cache-mb 7 --no-tls --allow-emulator-key=false --key a=b"));
    CHECK(strcmp(settings.data, "d") == 0 && strcmp(settings.store, "memory") == 0 && settings.cache_mb == 7);
    CHECK(settings.no_tls && !settings.allow_emulator_key && strcmp(settings.key, "a=b") == 0);
    CHECK(read_line(&settings, "--key=a=b --tls-cert c --tls-key k"));
    CHECK(strcmp(settings.key, "a=b") == 0 && strcmp(settings.tls_key, "k") == 0);
}

TEST(a_list_grows_with_each_flag_and_replaces_the_default)
{
    struct settings settings;

    CHECK(read_line(&settings,
                    "--listen 0.0.0.0:1 --listen [::]:2 --host-name a --host-name b --cors-origin *"));
    CHECK(settings.listen.count == 2 && strcmp(settings.listen.item[1], "[::]:2") == 0);
    CHECK(settings.host_names.count == 2 && settings.cors_origins.count == 1);
}

static const struct {
    const char *line, *complaint;
} refusals[] = {
    { "--nonsense", "no such flag: --nonsense" },
    { "--dat x", "no such flag: --dat" },
    { "--data-x=1", "no such flag: --data-x=1" },
    { "data", "not a flag: data" },
    { "-data x", "not a flag: -data" },
    { "--data", "a value is missing behind --data" },
    { "--cache-mb x", "not a number from 1 to 1,000,000: --cache-mb" },
    { "--cache-mb 0", "not a number from 1 to 1,000,000: --cache-mb" },
    { "--cache-mb -5", "not a number from 1 to 1,000,000: --cache-mb" },
    { "--cache-mb=", "not a number from 1 to 1,000,000: --cache-mb" },
    { "--cache-mb 1000001", "not a number from 1 to 1,000,000: --cache-mb" },
    { "--cache-mb 5x", "not a number from 1 to 1,000,000: --cache-mb" },
    { "--store redis", "not a value for --store" },
    { "--durability maybe", "not a value for --durability" },
    { "--log loud", "not a value for --log" },
    { "--tls-cert x", "--tls-cert and --tls-key go together" },
    { "--tls-key x", "--tls-cert and --tls-key go together" },
    { "--host-name a --host-name a --host-name a --host-name a --host-name a --host-name a --host-name a "
      "--host-name a "
      "--host-name a --host-name a --host-name a --host-name a --host-name a --host-name a --host-name a "
      "--host-name a "
      "--host-name b",
      "too many of --host-name" },
};

TEST(what_cannot_be_meant_is_refused_and_named)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const char *complaint = complaint_about(refusals[i].line);

        if (!strstr(complaint, refusals[i].complaint))
            test_failed(__FILE__, __LINE__, refusals[i].line);
    }
}

TEST(every_flag_is_a_variable_too_and_wins_over_it)
{
    struct settings settings;

    setenv("ORRERY_CACHE_MB", "9", 1);
    setenv("ORRERY_NO_TLS", "true", 1);
    setenv("ORRERY_ALLOW_EMULATOR_KEY", "0", 1);
    setenv("ORRERY_HOST_NAME", "from-variable", 1);
    CHECK(read_line(&settings, ""));
    CHECK(settings.cache_mb == 9 && settings.no_tls && !settings.allow_emulator_key);
    CHECK(settings.host_names.count == 1 && strcmp(settings.host_names.item[0], "from-variable") == 0);
    CHECK(read_line(&settings, "--cache-mb 3 --no-tls=false --host-name from-flag"));
    CHECK(settings.cache_mb == 3 && !settings.no_tls);
    CHECK(settings.host_names.count == 1 && strcmp(settings.host_names.item[0], "from-flag") == 0);
    setenv("ORRERY_CACHE_MB", "none", 1);
    CHECK(strstr(complaint_about(""), "not a number from 1 to 1,000,000: --cache-mb"));
    unsetenv("ORRERY_CACHE_MB");
    unsetenv("ORRERY_NO_TLS");
    unsetenv("ORRERY_ALLOW_EMULATOR_KEY");
    unsetenv("ORRERY_HOST_NAME");
}

static const struct {
    const char *line;
    bool loopback;
} addresses[] = {
    { "--listen 127.0.0.1:8081", true },
    { "--listen 127.1.2.3:0", true },
    { "--listen [::1]:8081", true },
    { "--listen localhost:8081", true },
    { "--listen 0.0.0.0:8081", false },
    { "--listen [::]:8081", false },
    { "--listen 192.168.1.5:8081", false },
    { "--listen 127.0.0.1:8081 --listen 0.0.0.0:8082", false },
    { "--listen 127.example.com:8081", false },
    { "--listen 127.0.0.1.example.com:8081", false },
    { "--listen localhost.example.com:8081", false },
    { "--listen [::1]", false },
};

TEST(only_loopback_means_every_address_and_no_name_that_looks_like_one)
{
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        struct settings settings;

        if (!read_line(&settings, addresses[i].line) ||
            settings_only_loopback(&settings.listen) != addresses[i].loopback)
            test_failed(__FILE__, __LINE__, addresses[i].line);
    }
}

TEST(plain_http_is_refused_beyond_loopback_unless_somebody_says_otherwise)
{
    static const struct {
        const char *line;
        bool only;
    } rows[] = {
        { "", false },
        { "--tls-only", true },
        { "--listen 0.0.0.0:8081", true },
        { "--listen 127.0.0.1:1 --listen 10.1.2.3:8081", true },
        { "--listen 0.0.0.0:8081 --tls-only=no", false },
        { "--listen 0.0.0.0:8081 --tls-only=yes", true },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct settings settings;

        CHECK(read_line(&settings, rows[i].line) && settings_tls_only(&settings) == rows[i].only);
    }
    CHECK(strstr(complaint_about("--tls-only --no-tls"), "tls-only"));
    CHECK(strstr(complaint_about("--tls-only --store memory"), "tls-only"));
}

TEST(a_connection_string_of_libpq_is_told_from_a_path)
{
    static const char *const databases[] = { "postgresql://", "postgres://a/b?c=d",
                                             "host=db1,db2 dbname=orrery", "service = shop" };
    static const char *const paths[] = { "data", "/var/lib/a=b", "./host=db1", "HOST=a", "",
                                         "=",    "a b=c",        "memory" };

    for (size_t i = 0; i < sizeof(databases) / sizeof(databases[0]); i++)
        CHECK(settings_is_database(databases[i]));
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        CHECK(!settings_is_database(paths[i]));
}
