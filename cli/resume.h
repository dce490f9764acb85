/*
 * cli/resume.h - how far an import came, in a file: {"files":["a.jsonl"],"done":1000,"sent":3000}. It is replaced by a rename,
 * so that a process that is killed leaves an old state or a new one.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct resume {
    const char *path;
    const char *const *file;
    size_t file_count;
    uint64_t done; /* all items before this one are settled */
    uint64_t sent; /* items before this one may have been sent */
    bool failed;
};

/* Reads the state, if there is one. False: it is not of these files, or makes no sense; it was told. */
bool resume_open(struct resume *resume, const char *path, const char *const *file, size_t file_count);
void resume_write(struct resume *resume, uint64_t done, uint64_t sent);
