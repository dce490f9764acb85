/* src/route/audit.c - lines about refusals and changes. */
#include "route/audit.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/heap.h"
#include "base/log.h"
#include "base/thread.h"

enum { PATH_SHOWN_MAX = 600, NAME_SHOWN_MAX = 200 }; /* bytes, of which each may take three */

struct audit {
    char *path;
    pthread_rwlock_t lock; /* of `file`: held shared while a line is written */
    int file;
    atomic_bool failing; /* the log has told that lines are lost */
    pthread_mutex_t counting;
    int64_t second;          /* whose refusals are counted */
    unsigned refusals, lost; /* in it; those of them that were not told */
};

/* --- the file --- */

static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

enum status audit_open(struct op *op, const char *path, struct audit **audit)
{
    int file = open_file(path);

    if (file < 0)
        return op_fail(op, ST_BAD_REQUEST, "cannot write the audit file %s: %s", path, strerror(errno));
    *audit = heap_allocate(sizeof(**audit));
    (*audit)->file = file;
    (*audit)->path = heap_allocate(strlen(path) + 1);
    memcpy((*audit)->path, path, strlen(path));
    thread_rwlock_init(&(*audit)->lock);
    pthread_mutex_init(&(*audit)->counting, NULL);
    return ST_OK;
}

void audit_close(struct audit *audit)
{
    if (!audit)
        return;
    close(audit->file);
    pthread_rwlock_destroy(&audit->lock);
    pthread_mutex_destroy(&audit->counting);
    free(audit->path);
    free(audit);
}

void audit_look(struct audit *audit)
{
    struct stat opened, named;
    int file;

    if (!audit || (stat(audit->path, &named) == 0 && fstat(audit->file, &opened) == 0 &&
                   named.st_ino == opened.st_ino && named.st_dev == opened.st_dev))
        return;
    file = open_file(audit->path);
    if (file < 0)
        return; /* the old one goes on, until there is a place for a new one */
    pthread_rwlock_wrlock(&audit->lock);
    close(audit->file);
    audit->file = file;
    pthread_rwlock_unlock(&audit->lock);
}

/* --- a line --- */

struct line {
    char text[AUDIT_LINE_BYTES_MAX];
    size_t size;
};

__attribute__((format(printf, 2, 3))) static void put(struct line *line, const char *fmt, ...)
{
    size_t room = sizeof(line->text) - line->size;
    va_list args;
    int size;

    va_start(args, fmt);
    size = vsnprintf(line->text + line->size, room, fmt, args);
    va_end(args);
    assert(size >= 0);
    assert((size_t)size < room); /* whatever is long is shortened */
    line->size += (size_t)size;
}

/* Nothing but printable ASCII, whatever a client sent. */
static void put_text(struct line *line, const char *name, struct slice text, size_t bytes_max)
{
    bool is_long = text.size > bytes_max;

    put(line, ",\"%s\":\"", name);
    for (size_t i = 0; i < (is_long ? bytes_max : text.size); i++) {
        unsigned char c = (unsigned char)text.data[i];

        if (c < ' ' || c >= 0x7f || c == '"' || c == '\\')
            put(line, "%%%02X", c);
        else
            put(line, "%c", c);
    }
    put(line, "%s\"", is_long ? "..." : "");
}

static void begin_line(struct line *line, int64_t now_ms, const char *event)
{
    time_t seconds = (time_t)(now_ms / 1000);
    char date[32];
    struct tm utc;

    line->size = 0;
    gmtime_r(&seconds, &utc);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
    put(line, "{\"time\":\"%s.%03dZ\",\"event\":\"%s\"", date, (int)(now_ms % 1000), event);
}

static void write_line(struct audit *audit, struct line *line)
{
    ssize_t written;

    put(line, "}\n");
    pthread_rwlock_rdlock(&audit->lock);
    written = write(audit->file, line->text, line->size);
    pthread_rwlock_unlock(&audit->lock);
    if (written == (ssize_t)line->size)
        atomic_store(&audit->failing, false);
    else if (!atomic_exchange(&audit->failing, true))
        log_line(LOG_ERROR, "lines of the audit file %s are lost: %s", audit->path,
                 written < 0 ? strerror(errno) : "it is cut off");
}

/* --- who --- */

/* The id of the user whose permission it is; the permission's rid when that is gone. */
static void put_token_owner(struct op *op, struct line *line, struct catalog *catalog,
                            const struct grant *grant)
{
    struct child *permission = catalog ? catalog_find_child_at(catalog, &grant->permission) : NULL;
    struct child *user = permission ? catalog_find_child_at(catalog, &permission->parent) : NULL;
    struct buf rid;

    buf_init(&rid, &op->arena);
    rid_print(&rid, &grant->permission);
    put_text(line, "principal", user ? user->id : buf_as_slice(&rid), NAME_SHOWN_MAX);
    child_release(user);
    child_release(permission);
}

static void put_who(struct op *op, struct line *line, const struct audit_event *event)
{
    static const char *const kinds[] = { [AUTH_BY_NOBODY] = "nobody",
                                         [AUTH_BY_KEY] = "key",
                                         [AUTH_BY_TOKEN] = "resource token",
                                         [AUTH_BY_PRINCIPAL] = "bearer token" };
    const struct auth_who *who = event->who;

    put(line, ",\"by\":\"%s\"", kinds[who->kind]);
    if (!who->is_known)
        put(line, ",\"principal\":null");
    else if (who->kind == AUTH_BY_TOKEN)
        put_token_owner(op, line, event->catalog, &who->grant);
    else if (who->kind == AUTH_BY_PRINCIPAL)
        put_text(line, "principal", principal_name(&who->principal), NAME_SHOWN_MAX);
    else
        put_text(line, "principal", slice_of(auth_key_names[who->key]), NAME_SHOWN_MAX);
}

/* --- which are told --- */

/* Whether a refusal may be told in this second. `lost` is how many of an earlier one could not be. */
static bool admit(struct audit *audit, int64_t now_ms, unsigned *lost)
{
    bool admitted;

    *lost = 0;
    pthread_mutex_lock(&audit->counting);
    if (audit->second != now_ms / 1000) {
        *lost = audit->lost;
        audit->second = now_ms / 1000;
        audit->refusals = audit->lost = 0;
    }
    admitted = audit->refusals++ < AUDIT_REFUSALS_MAX;
    audit->lost += !admitted;
    pthread_mutex_unlock(&audit->counting);
    return admitted;
}

static void tell_lost(struct audit *audit, int64_t now_ms, unsigned lost)
{
    struct line line;

    begin_line(&line, now_ms, "refusals not told");
    put(&line, ",\"count\":%u", lost);
    write_line(audit, &line);
}

static bool is_refusal(int status)
{
    return status == 401 || status == 403;
}

void audit_request(struct audit *audit, struct op *op, const struct audit_event *event)
{
    bool refused = is_refusal(event->status);
    struct line line;
    unsigned lost;

    if (!audit || (!refused && !(event->is_definition && event->status / 100 == 2)))
        return;
    if (refused) {
        bool admitted = admit(audit, op->now_ms, &lost);

        if (lost)
            tell_lost(audit, op->now_ms, lost);
        if (!admitted)
            return;
    }
    begin_line(&line, op->now_ms, refused ? "refused" : "changed");
    put_text(&line, "peer", event->request->peer, NAME_SHOWN_MAX);
    put_who(op, &line, event);
    put(&line, ",\"method\":\"%s\"", method_name(event->request->method));
    put_text(&line, "path", event->request->target, PATH_SHOWN_MAX);
    put(&line, ",\"operation\":\"%s\",\"status\":%d,\"subStatus\":%d", event->operation, event->status,
        event->sub_status);
    put_text(&line, "activityId", slice_of(op->activity_id), NAME_SHOWN_MAX);
    write_line(audit, &line);
}

void audit_note(struct audit *audit, const struct op *op, const char *event, const char *what)
{
    struct line line;

    if (!audit)
        return;
    begin_line(&line, op->now_ms, event);
    put_text(&line, "what", slice_of(what), PATH_SHOWN_MAX);
    write_line(audit, &line);
}
