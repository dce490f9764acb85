/* src/text/stem.c - stems. The only file that knows libstemmer. */
#include <assert.h>
#include <libstemmer.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/heap.h"
#include "text/stem.h"

static const char *const algorithms[TEXT_LANGUAGE_COUNT] = {
    [TEXT_ENGLISH] = "english", [TEXT_GERMAN] = "german",   [TEXT_SPANISH] = "spanish",
    [TEXT_FRENCH] = "french",   [TEXT_ITALIAN] = "italian", [TEXT_PORTUGUESE] = "portuguese",
};

struct stemmers {
    struct sb_stemmer *of[TEXT_LANGUAGE_COUNT];
};

static pthread_key_t key;

static void free_stemmers(void *memory)
{
    struct stemmers *stemmers = memory;

    for (size_t i = 0; i < TEXT_LANGUAGE_COUNT; i++)
        if (stemmers->of[i])
            sb_stemmer_delete(stemmers->of[i]);
    free(stemmers);
}

static void make_key(void)
{
    int failed = pthread_key_create(&key, free_stemmers);

    assert(!failed);
}

static struct stemmers *stemmers_of_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct stemmers *stemmers;
    int failed;

    pthread_once(&once, make_key);
    stemmers = pthread_getspecific(key);
    if (!stemmers) {
        stemmers = heap_allocate(sizeof(*stemmers));
        failed = pthread_setspecific(key, stemmers);
        assert(!failed);
    }
    return stemmers;
}

struct slice stem_of(enum text_language language, struct slice word)
{
    struct sb_stemmer **stemmer = &stemmers_of_thread()->of[language];
    const sb_symbol *stem;

    if (!*stemmer)
        *stemmer = sb_stemmer_new(algorithms[language], "UTF_8");
    assert(*stemmer); /* a machine out of memory is no request's error */
    stem = sb_stemmer_stem(*stemmer, (const sb_symbol *)word.data, (int)word.size);
    assert(stem);
    return slice_make(stem, (size_t)sb_stemmer_length(*stemmer));
}
