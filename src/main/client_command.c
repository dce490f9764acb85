/* src/main/client_command.c - finds orrery-cli where this program lies, and becomes it. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "main/client_command.h"

/* A new one also has its row in cli/main.c. */
static const char *const names[] = { "shell",   "query",  "import",  "export",
                                     "samples", "advise", "reshape", "wait" };

bool client_command_exists(const char *name)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Beside this program, or in libexec, as with orrery-js. */
int client_command(char **argv)
{
    static const char *const places[] = { "%s/orrery-cli", "%s/../libexec/orrery/orrery-cli" };
    char folder[PATH_MAX - 64] = "", path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", folder, sizeof(folder) - 1);

    folder[size > 0 ? size : 0] = '\0';
    *(strrchr(folder, '/') ? strrchr(folder, '/') : folder) = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(path, sizeof(path), places[i], folder);
        execv(path, argv);
    }
    fprintf(
        stderr,
        "orrery: the program orrery-cli, which has this command, is missing: it belongs beside this one\n");
    return 1;
}
