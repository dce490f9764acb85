/* cli/resume.c - how far an import came, in a file. */
#include <errno.h>
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connect.h"
#include "resume.h"
#include "text.h"

static bool read_all(const char *path, struct text *to)
{
    FILE *file = fopen(path, "r");
    char piece[4096];
    size_t got;

    if (!file)
        return false;
    while ((got = fread(piece, 1, sizeof(piece), file)) > 0)
        text_add(to, piece, got);
    fclose(file);
    return true;
}

static bool is_of(const struct resume *resume, orrery_value state)
{
    orrery_value files = orrery_value_member(state, "files");

    if (orrery_value_count(files) != resume->file_count)
        return false;
    for (size_t i = 0; i < resume->file_count; i++)
        if (!orrery_value_equals(orrery_value_element(files, i), resume->file[i]))
            return false;
    return true;
}

bool resume_open(struct resume *resume, const char *path, const char *const *file, size_t file_count)
{
    struct text text = { 0 };
    orrery_json *json = NULL;
    bool good = true;

    *resume = (struct resume){ .path = path, .file = file, .file_count = file_count };
    if (!read_all(path, &text)) {
        good = errno == ENOENT;
        if (!good)
            tell("%s cannot be read: %s", path, strerror(errno));
    } else if (orrery_json_parse(text_of(&text), text.size, &json) != ORRERY_OK ||
               !is_of(resume, orrery_json_root(json))) {
        tell("%s is of another import", path);
        good = false;
    } else {
        resume->done = (uint64_t)orrery_value_int(orrery_value_member(orrery_json_root(json), "done"));
        resume->sent = (uint64_t)orrery_value_int(orrery_value_member(orrery_json_root(json), "sent"));
    }
    orrery_json_free(json);
    text_free(&text);
    return good;
}

void resume_write(struct resume *resume, uint64_t done, uint64_t sent)
{
    struct text text = { 0 }, beside = { 0 };
    FILE *file;

    if (done < resume->done) /* what is skipped now was settled by an earlier run */
        done = resume->done;
    text_printf(&beside, "%s.new", resume->path);
    text_puts(&text, "{\"files\":[");
    for (size_t i = 0; i < resume->file_count; i++) {
        text_puts(&text, i ? "," : "");
        text_json(&text, resume->file[i], strlen(resume->file[i]));
    }
    text_printf(&text, "],\"done\":%llu,\"sent\":%llu}\n", (unsigned long long)done,
                (unsigned long long)sent);
    file = fopen(text_of(&beside), "w");
    if (!file || fwrite(text_of(&text), 1, text.size, file) != text.size || fclose(file) != 0 ||
        rename(text_of(&beside), resume->path) != 0) {
        if (!resume->failed)
            tell("%s cannot be written: %s", resume->path, strerror(errno));
        resume->failed = true;
    }
    resume->done = done;
    text_free(&text);
    text_free(&beside);
}
