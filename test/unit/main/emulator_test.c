/* test/unit/main/emulator_test.c - what the emulators' flags and variables become here. */
#include <stdlib.h>
#include <unistd.h>

#include "main/settings.h"
#include "test.h"

enum { ARGUMENTS_MAX = 40 };

static const char *const variables[] = { "PORT",
                                         "PROTOCOL",
                                         "KEY_FILE",
                                         "LOG_LEVEL",
                                         "GATEWAY_PUBLIC_ENDPOINT",
                                         "ENABLE_EXPLORER",
                                         "EXPLORER_PORT",
                                         "HEALTH_PORT",
                                         "ENABLE_TELEMETRY",
                                         "AZURE_COSMOS_EMULATOR_KEY",
                                         "AZURE_COSMOS_EMULATOR_ARGS",
                                         "AZURE_COSMOS_EMULATOR_PARTITION_COUNT",
                                         "ENABLE_OTLP_EXPORTER",
                                         "OTEL_EXPORTER_OTLP_ENDPOINT",
                                         "ORRERY_LISTEN" };

/* `serve` and these words, with these variables: "PORT=1 PROTOCOL=https". */
static bool read_words(struct settings *settings, const char *words, const char *environment)
{
    static char copy[1000], set[1000];
    char *argv[ARGUMENTS_MAX] = { (char *)"orrery", (char *)"serve" };
    int argc = 2;

    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        unsetenv(variables[i]);
    snprintf(set, sizeof(set), "%s", environment);
    for (char *at = set; *at;) {
        size_t size = strcspn(at, " ");
        char *next = at + size + (at[size] == ' ');

        at[size] = '\0';
        for (char *c = at; *c; c++)
            *c = *c == ',' ? ' ' : *c; /* a blank within a value */
        putenv(at);
        at = next;
    }
    snprintf(copy, sizeof(copy), "%s", words);
    for (char *at = copy; *at && argc < ARGUMENTS_MAX;) {
        argv[argc++] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = '\0';
    }
    return settings_read(settings, argc, argv, 2);
}

static bool has(const struct setting_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->item[i], text) == 0)
            return true;
    return false;
}

TEST(an_emulator_listens_everywhere_and_answers_to_every_name)
{
    struct settings settings;

    CHECK(read_words(&settings, "--emulator", ""));
    CHECK(settings.emulator && settings.allow_emulator_key && settings.tls_only == -1);
    CHECK(settings.listen.count == 1 && has(&settings.listen, "*:8081"));
    CHECK(has(&settings.optional_listen, "*:8080") && has(&settings.optional_listen, "*:1234"));
    CHECK(has(&settings.host_names, "*"));
}

TEST(without_the_flag_no_variable_of_theirs_counts)
{
    struct settings settings;

    CHECK(read_words(&settings, "", "PORT=9 LOG_LEVEL=trace AZURE_COSMOS_EMULATOR_KEY=abc"));
    CHECK(!settings.emulator && has(&settings.listen, "localhost:8081") && !settings.key);
    CHECK(strcmp(settings.log, "info") == 0 && settings.host_names.count == 0);
}

TEST(their_variables_and_their_flags_are_understood)
{
    struct settings settings;

    CHECK(
        read_words(&settings, "--emulator",
                   "PORT=9001 PROTOCOL=https LOG_LEVEL=trace ENABLE_EXPLORER=false "
                   "GATEWAY_PUBLIC_ENDPOINT=cosmosdb ENABLE_TELEMETRY=false AZURE_COSMOS_EMULATOR_KEY=abc"));
    CHECK(has(&settings.listen, "*:9001") && !has(&settings.optional_listen, "*:1234"));
    CHECK(strcmp(settings.log, "debug") == 0 && strcmp(settings.key, "abc") == 0);
    CHECK(strcmp(settings.public_endpoint, "https://cosmosdb:9001") == 0);
    CHECK(read_words(&settings,
                     "--emulator --port 9002 --enable-explorer false --data-path x --log-level=error",
                     "PORT=9001"));
    CHECK(has(&settings.listen, "*:9002") && settings.optional_listen.count == 1);
    CHECK(strcmp(settings.data, "x") == 0 && strcmp(settings.log, "error") == 0);
}

TEST(spans_go_where_the_usual_variable_says)
{
    struct settings settings;

    CHECK(read_words(&settings, "--emulator",
                     "ENABLE_OTLP_EXPORTER=true OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318"));
    CHECK(settings.otlp && strcmp(settings.otlp, "http://c:4318") == 0);
    CHECK(read_words(&settings, "--emulator --enable-otlp-exporter false",
                     "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318"));
    CHECK(!settings.otlp);
}

TEST(flags_of_the_windows_emulator_have_a_slash_and_any_case)
{
    struct settings settings;

    CHECK(read_words(&settings,
                     "--emulator /noexplorer /NoUI /Port=9003 /consistency:Strong /partitioncount=50",
                     "AZURE_COSMOS_EMULATOR_ARGS=/EnableRateLimiting,/Key=abc"));
    CHECK(has(&settings.listen, "*:9003") && strcmp(settings.consistency, "Strong") == 0);
    CHECK(settings.enforce_throughput && strcmp(settings.key, "abc") == 0);
}

TEST(our_own_flags_and_variables_win_over_theirs)
{
    struct settings settings;

    CHECK(read_words(&settings, "--emulator --port 9 --key b --data d --tls-only --log warn",
                     "AZURE_COSMOS_EMULATOR_KEY=a LOG_LEVEL=debug ORRERY_LISTEN=127.0.0.1:0"));
    CHECK(settings.listen.count == 1 && has(&settings.listen, "127.0.0.1:0"));
    CHECK(settings.optional_listen.count == 0);
    CHECK(strcmp(settings.key, "b") == 0 && strcmp(settings.data, "d") == 0 && settings.tls_only == 1);
    CHECK(strcmp(settings.log, "warn") == 0);
}

TEST(what_nobody_knows_is_passed_over_with_its_value)
{
    struct settings settings;

    CHECK(read_words(&settings,
                     "--emulator --brand-new thing --other=1 /Odd --data d --enable-explorer --memory 300",
                     ""));
    CHECK(strcmp(settings.data, "d") == 0 && settings.memory_mb == 300 &&
          settings.optional_listen.count == 2);
}

TEST(a_port_that_is_none_is_refused)
{
    struct settings settings;

    CHECK(!read_words(&settings, "--emulator --port 70000", ""));
    CHECK(!read_words(&settings, "--emulator", "PORT=x"));
    CHECK(!read_words(&settings, "--emulator --protocol gopher", ""));
    CHECK(!read_words(&settings, "--emulator --port", ""));
}

TEST(a_key_file_may_have_a_key_and_nothing_else)
{
    struct settings settings;
    char path[300], words[400];
    FILE *file;

    snprintf(path, sizeof(path), "%s/key", test_directory());
    file = fopen(path, "w");
    CHECK(file && fputs("QUJD\n", file) >= 0 && fclose(file) == 0);
    snprintf(words, sizeof(words), "--emulator --key-file %s", path);
    CHECK(read_words(&settings, words, "") && strcmp(settings.key, "QUJD") == 0 && !settings.key_file);
    file = fopen(path, "w");
    CHECK(file && fputs("primary QUJD\n", file) >= 0 && fclose(file) == 0);
    CHECK(read_words(&settings, words, "") && !settings.key && strcmp(settings.key_file, path) == 0);
}

TEST(a_public_endpoint_is_a_name_a_name_and_a_port_or_a_url)
{
    static const char *const cases[][2] = { { "GATEWAY_PUBLIC_ENDPOINT=a", "http://a:8081" },
                                            { "GATEWAY_PUBLIC_ENDPOINT=a:7", "http://a:7" },
                                            { "GATEWAY_PUBLIC_ENDPOINT=https://a:7", "https://a:7" } };
    struct settings settings;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK(read_words(&settings, "--emulator", cases[i][0]));
        CHECK(strcmp(settings.public_endpoint, cases[i][1]) == 0);
    }
    CHECK(!read_words(&settings, "--emulator", "GATEWAY_PUBLIC_ENDPOINT=a/b"));
}
