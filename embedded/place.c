/* embedded/place.c - orrery-js, from where this library lies. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "embedded/place.h"

bool place_script_program(const char *given, char *path, size_t size)
{
    static const char *const places[] = { "%s/../bin/orrery-js", "%s/../libexec/orrery/orrery-js",
                                          "%s/../../bin/orrery-js", "%s/orrery-js" };
    char folder[PATH_MAX - 64];
    char *slash;
    Dl_info info;

    if (given) {
        snprintf(path, size, "%s", given);
        return true;
    }
    if (!dladdr(places, &info) || !info.dli_fname || strlen(info.dli_fname) >= sizeof(folder))
        return false;
    snprintf(folder, sizeof(folder), "%s", info.dli_fname);
    slash = strrchr(folder, '/');
    if (!slash)
        return false;
    *slash = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(path, size, places[i], folder);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}
