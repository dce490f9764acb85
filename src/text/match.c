/* src/text/match.c - keywords in a text: words by their stems, phrases by where their words stand. */
#include "text/match.h"

void text_search_begin(struct text_search *search, enum text_language language, struct arena *memory)
{
    *search = (struct text_search){ .language = language, .memory = memory };
}

static bool copy(struct arena *memory, struct slice from, struct slice *to)
{
    char *bytes = arena_try_alloc(memory, from.size + 1);

    if (!bytes)
        return false;
    memcpy(bytes, from.data, from.size);
    *to = slice_make(bytes, from.size);
    return true;
}

/* No stemmer changes a letter of ASCII at the beginning of a word, nor makes one there of another. */
static void want(struct text_search *search, const struct text_term *term)
{
    uint8_t first = (uint8_t)term->stem.data[0];

    if (term->distance || first >= 0x80)
        search->wants_any = true;
    else
        search->wants[first] = true;
}

static bool add_term(struct text_search *search, const struct text_words *words, uint32_t distance)
{
    struct text_term *term;

    if (!arena_list_reserve(search->memory, &search->term, &search->term_capacity, search->term_count + 1,
                            sizeof(*search->term)))
        return false;
    term = &search->term[search->term_count];
    if (!copy(search->memory, text_word(words), &term->word) ||
        !copy(search->memory, text_word_stem(words), &term->stem))
        return false;
    term->distance = distance;
    search->term_count++;
    if (term->stem.size)
        want(search, term);
    return true;
}

bool text_search_add(struct text_search *search, struct slice keyword, uint32_t distance)
{
    struct text_keyword added = { .first = search->term_count };
    struct text_words words;

    if (!arena_list_reserve(search->memory, &search->keyword, &search->keyword_capacity,
                            search->keyword_count + 1, sizeof(*search->keyword)))
        return false;
    text_words_begin(&words, search->language, keyword);
    while (text_words_next(&words))
        if (!add_term(search, &words, distance))
            return false;
    added.count = search->term_count - added.first;
    search->keyword[search->keyword_count++] = added;
    return true;
}

/* ---- texts ---- */

static bool may_be_wanted(const struct text_search *search, struct slice word)
{
    uint8_t first = (uint8_t)word.data[0];

    return search->wants_any || first >= 0x80 || search->wants[first];
}

static bool note(struct text_places *places, struct arena *memory, uint32_t position)
{
    if (!arena_list_reserve(memory, &places->position, &places->capacity, places->count + 1,
                            sizeof(*places->position)))
        return false;
    places->position[places->count++] = position;
    return true;
}

static bool note_word(const struct text_search *search, const struct text_words *words,
                      struct text_places *places, struct arena *memory)
{
    struct slice word = text_word(words), stem;
    size_t ruled_out;

    if (!may_be_wanted(search, word))
        return true;
    stem = text_word_stem(words);
    for (size_t i = 0; i < search->term_count; i++) {
        const struct text_term *term = &search->term[i];

        if (!slice_equal(stem, term->stem) &&
            !(term->distance && text_is_near(word, term->word, term->distance, &ruled_out)))
            continue;
        if (!note(&places[i], memory, words->position))
            return false;
    }
    return true;
}

/* Positions that are wanted rise from call to call. */
static bool stands_at(struct text_places *term, uint32_t position)
{
    while (term->next < term->count && term->position[term->next] < position)
        term->next++;
    return term->next < term->count && term->position[term->next] == position;
}

uint32_t text_phrase_count(struct text_places *term, size_t count)
{
    uint32_t found = 0;

    for (size_t k = 0; k < count; k++)
        term[k].next = 0;
    for (size_t i = 0; count && i < term[0].count; i++) {
        size_t k = 1;

        while (k < count && stands_at(&term[k], term[0].position[i] + (uint32_t)k))
            k++;
        found += k == count;
    }
    return found;
}

static void count_keywords(const struct text_search *search, struct text_places *places,
                           struct text_hits *hits)
{
    for (size_t i = 0; i < search->keyword_count; i++) {
        const struct text_keyword *keyword = &search->keyword[i];

        hits->frequency[i] = text_phrase_count(places + keyword->first, keyword->count);
    }
}

bool text_search_look(const struct text_search *search, struct slice text, struct arena *memory,
                      struct text_hits *hits)
{
    size_t places_bytes = search->term_count * sizeof(struct text_places);
    struct text_places *places = arena_try_alloc(memory, places_bytes + 1);
    struct text_words words;

    hits->frequency = arena_try_alloc(memory, search->keyword_count * sizeof(*hits->frequency) + 1);
    if (!places || !hits->frequency)
        return false;
    memset(places, 0, places_bytes);
    text_words_begin(&words, search->language, text);
    while (text_words_next(&words))
        if (!note_word(search, &words, places, memory))
            return false;
    hits->length = words.count;
    count_keywords(search, places, hits);
    return true;
}
