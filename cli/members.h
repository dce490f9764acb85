/* cli/members.h - the members of a JSON object as they stand in its text. The text has been read as JSON before. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "text.h"

struct member {
    const char *name, *value; /* name: within its quotes, with its escapes */
    size_t name_size, value_size;
};

/* `at` begins at the object's brace, and is moved. False: there is no more. */
bool member_next(const char **at, const char *end, struct member *member);

/* The object without what the service adds to items. */
void members_without_system(struct text *to, const char *json, size_t size);
