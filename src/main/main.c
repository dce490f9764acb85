/* src/main/main.c - which command was asked for. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "main/admin_command.h"
#include "main/backup_command.h"
#include "main/check.h"
#include "main/health_command.h"
#include "main/client_command.h"
#include "main/copy_command.h"
#include "main/keys_command.h"
#include "main/memory.h"
#include "main/serve.h"
#include "main/settings.h"

static int help_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    puts(
        "orrery " ORRERY_VERSION
        " - a document database that speaks the protocol of Azure Cosmos DB for NoSQL\n"
        "\n"
        "  orrery serve [flags]        start the server; it prints where it listens when it is ready\n"
        "  orrery check DIR            verify a data directory that no server is using\n"
        "  orrery check --store postgresql://...\n"
        "                              verify the data in a PostgreSQL, while servers use it or not\n"
        "  orrery copy --from DIR|postgresql://... --to DIR|postgresql://...\n"
        "                              all data of one into the other, as it is, and verified; cut off, the "
        "same\n"
        "                              command goes on with it\n"
        "  orrery backup NAME [flags]  copy the data while a server uses it or not, into NAME below "
        "--backup-dir,\n"
        "                              missing or empty; wants the server's --data, and its --key or "
        "--key-file\n"
        "  orrery keys show [flags]    print the keys that serve would take with these flags\n"
        "  orrery keys rotate NAME --key-file FILE\n"
        "                              give one key a new value; a server takes it up within a second\n"
        "  orrery keys metrics [flags] print the token that opens /_orrery/metrics beyond loopback\n"
        "  orrery admin split dbs/D/colls/C [range=ID] [at=middle|median|EPK | parts=N] [flags]\n"
        "  orrery admin merge dbs/D/colls/C ID ID... [flags]\n"
        "                              split or merge partition key ranges, by the server that uses --data\n"
        "  orrery admin snapshot create NAME [database=D] [flags]\n"
        "  orrery admin snapshot list|restore NAME|delete NAME [flags]\n"
        "                              name this moment of the data; go back to it, while the server serves\n"
        "  orrery admin copy dbs/D dbs/NEW [flags]\n"
        "                              a copy of a database, made inside the server\n"
        "  orrery admin restore dbs/D/colls/C --at TIME|LSN --to dbs/D/colls/NEW [flags]\n"
        "                              a container of an earlier moment, from the change log\n"
        "  orrery shell [flags]        a prompt for queries and items of a server, here or elsewhere\n"
        "  orrery query SQL --in dbs/D/colls/C [flags]\n"
        "                              the rows of a query\n"
        "  orrery import FILE... --to dbs/D/colls/C [flags]\n"
        "                              items of JSON and CSV files into a container\n"
        "  orrery export dbs/D/colls/C [flags]\n"
        "                              a container as JSON lines, as of one LSN; dbs/D --all: a whole "
        "database\n"
        "  orrery samples [NAME]       load a worked model; without a name: which there are\n"
        "  orrery advise dbs/D[/colls/C] [flags]\n"
        "                              which rules of modelling the data breaks, with the evidence\n"
        "  orrery wait [LINK...] [flags]\n"
        "                              end when a server serves, and has what the links name\n"
        "                              (each of these has its own --help)\n"
        "  orrery health [flags]       whether the server that was started with these flags serves; 0: it "
        "does\n"
        "  orrery version              print the version\n"
        "\n"
        "Flags of serve, with their defaults; each may also be set in the environment\n"
        "(--cache-mb as ORRERY_CACHE_MB):\n");
    settings_print_help();
    puts(
        "\n"
        "SIGTERM or Ctrl-C lets requests in flight finish, then stops. All data is in --data: orrery backup\n"
        "copies it, serve --data on the copy restores it, deleting it begins anew. Without --key and "
        "--key-file,\n"
        "clients sign with the well-known key of the Cosmos DB emulator, which SDK samples use.");
    return 0;
}

static int serve_command(int argc, char **argv)
{
    struct settings settings;
    const char *wrong;

    if (!settings_read(&settings, argc, argv, 2))
        return 2;
    wrong = memory_settle(&settings, memory_available_mb());
    if (wrong) {
        fprintf(stderr, "orrery: %s (orrery --help lists the flags)\n", wrong);
        return 2;
    }
    memory_spare();
    return serve(&settings);
}

static int check_command(int argc, char **argv)
{
    if (argc == 3)
        return check(strncmp(argv[2], "--store=", 8) == 0 ? argv[2] + 8 : argv[2]);
    if (argc == 4 && strcmp(argv[2], "--store") == 0)
        return check(argv[3]);
    fputs("usage: orrery check DIR, orrery check --store postgresql://...\n", stderr);
    return 2;
}

static int version_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return puts("orrery " ORRERY_VERSION) < 0;
}

/* A new one also has its lines in help_command() and in docs/running.md; test/program/run looks for them. */
static const struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* its words begin at argv[2]; the exit status */
} commands[] = {
    { "serve", serve_command },     { "check", check_command },       { "backup", backup_command },
    { "admin", admin_command },     { "keys", keys_command },         { "help", help_command },
    { "version", version_command }, { "--version", version_command }, { "health", health_command },
    { "copy", copy_command },
};

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "help";

    if (client_command_exists(name))
        return client_command(argv);
    umask(077); /* whatever is made is its owner's alone */
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return help_command(argc, argv);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc, argv);
    fprintf(stderr, "orrery: no command named %s (orrery --help lists them)\n", name);
    return 2;
}
