/* src/main/migration.c - the steps between formats, and how they are run. */
#include <assert.h>

#include "base/log.h"
#include "main/directory.h"
#include "main/migration.h"

static const struct migration steps[] = {
    { 1, "its items are indexed from now on", migrate_from_1 },
};

const struct formats formats_known = { .present = DIRECTORY_FORMAT,
                                       .steps = steps,
                                       .step_count = sizeof(steps) / sizeof(steps[0]) };

static const struct migration *step_from(const struct formats *formats, int format)
{
    for (size_t i = 0; i < formats->step_count; i++)
        if (formats->steps[i].from == format)
            return &formats->steps[i];
    return NULL;
}

/* Looks for all steps before the first one is run, so that no directory is left half way. */
static enum status check_way(struct op *op, const struct formats *formats, const char *path, int format)
{
    for (int at = format; at < formats->present; at++)
        if (!step_from(formats, at))
            return op_fail(op, ST_UNAVAILABLE,
                           "%s has data of format %d, and this program knows no way from format %d to %d: "
                           "use an older one first",
                           path, format, at, formats->present);
    return ST_OK;
}

enum status migrate(struct op *op, const struct formats *formats, const struct directory *directory,
                    int format)
{
    enum status st;

    assert(directory->lock >= 0);
    assert(format >= 1);
    assert(format <= formats->present); /* check_format() refuses a newer one */
    TRY(check_way(op, formats, directory->path, format));
    for (; format < formats->present; format++) {
        const struct migration *step = step_from(formats, format);

        assert(step); /* check_way() has seen it */
        log_line(LOG_INFO, "%s: from format %d to %d: %s", directory->path, format, format + 1, step->about);
        TRY(step->run(op, directory));
        TRY(directory_write_format(op, directory->path, format + 1));
    }
out:
    return st;
}
