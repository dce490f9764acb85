/* cli/members.c - the members of a JSON object as they stand in its text: nothing is parsed, numbers stay as they are. */
#include <string.h>

#include "members.h"

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

/* Behind the string that begins at `at`. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end; at++) {
        at = at + strcspn(at, "\"\\");
        if (at >= end || *at == '"')
            break;
        at++;
    }
    return at < end ? at + 1 : end;
}

static const char *skip_value(const char *at, const char *end)
{
    size_t depth = 0;

    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            if (depth == 0)
                return at;
            continue;
        }
        if (*at == '{' || *at == '[')
            depth++;
        else if (*at == '}' || *at == ']') {
            if (depth == 0)
                return at;
            if (--depth == 0)
                return at + 1;
        } else if (depth == 0 && (*at == ',' || *at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
            return at;
        at++;
    }
    return end;
}

bool member_next(const char **at, const char *end, struct member *member)
{
    const char *from = skip_blanks(*at, end);

    if (from < end && (*from == '{' || *from == ','))
        from = skip_blanks(from + 1, end);
    if (from >= end || *from != '"')
        return false;
    member->name = from + 1;
    from = skip_string(from, end);
    member->name_size = (size_t)(from - 1 - member->name);
    from = skip_blanks(from, end);
    from = skip_blanks(from < end ? from + 1 : end, end); /* the colon */
    member->value = from;
    *at = skip_value(from, end);
    member->value_size = (size_t)(*at - from);
    return true;
}

static bool is_system(const struct member *member)
{
    static const char *const names[] = { "_rid", "_self", "_etag", "_attachments", "_ts", "_lsn" };

    if (member->name_size < 3 || member->name[0] != '_')
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == member->name_size && memcmp(names[i], member->name, member->name_size) == 0)
            return true;
    return false;
}

void members_without_system(struct text *to, const char *json, size_t size)
{
    const char *at = json, *end = json + size;
    struct member member;
    bool first = true;

    text_byte(to, '{');
    while (member_next(&at, end, &member)) {
        if (is_system(&member))
            continue;
        if (!first)
            text_byte(to, ',');
        text_add(to, member.name - 1, (size_t)(member.value + member.value_size - (member.name - 1)));
        first = false;
    }
    text_byte(to, '}');
}
