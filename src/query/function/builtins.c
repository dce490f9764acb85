/* src/query/function/builtins.c - finding a function by its name, whichever family it belongs to. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <strings.h>

#include "query/eval/aggregate.h"
#include "query/function/builtins.h"

static const struct builtin_family *const families[] = {
    &builtins_convert, &builtins_regex, &builtins_aggregate, &builtins_array,
    &builtins_date,    &builtins_math,  &builtins_spatial,   &builtins_string,
    &builtins_text,    &builtins_type,  &builtins_unknown,   &builtins_vector,
};

enum { BUILTINS_MAX = 256 };

struct spelling {
    const char *name;
    const struct builtin *row;
};

static struct spelling sorted[BUILTINS_MAX];
static size_t sorted_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int by_name(const void *a, const void *b)
{
    return strcasecmp(((const struct spelling *)a)->name, ((const struct spelling *)b)->name);
}

static void add(const char *name, const struct builtin *row)
{
    assert(sorted_count < BUILTINS_MAX);
    sorted[sorted_count++] = (struct spelling){ name, row };
}

static void sort_families(void)
{
    for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++)
        for (size_t i = 0; i < families[f]->count; i++) {
            const struct builtin *row = &families[f]->row[i];

            add(row->name, row);
            if (row->also)
                add(row->also, row);
        }
    qsort(sorted, sorted_count, sizeof(sorted[0]), by_name);
}

static int compare_name(struct slice name, const char *row)
{
    int order = strncasecmp(name.data, row, name.size);

    return order ? order : -(row[name.size] != '\0');
}

const struct builtin *builtin_find(struct slice name)
{
    size_t low = 0, high;

    pthread_once(&once, sort_families);
    high = sorted_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare_name(name, sorted[middle].name);

        if (order == 0)
            return sorted[middle].row;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
