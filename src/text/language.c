/* src/text/language.c - the languages of full text, by their names. */
#include "text/language.h"

static const struct {
    const char *name, *number;
    enum text_language language;
} languages[] = {
    { "en-US", "1033", TEXT_ENGLISH },    { "de-DE", "1031", TEXT_GERMAN },
    { "es-ES", "3082", TEXT_SPANISH },    { "fr-FR", "1036", TEXT_FRENCH },
    { "it-IT", "1040", TEXT_ITALIAN },    { "pt-BR", "1046", TEXT_PORTUGUESE },
    { "pt-PT", "2070", TEXT_PORTUGUESE },
};

bool text_language_named(struct slice name, enum text_language *language)
{
    for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++)
        if (slice_is(name, languages[i].name) || slice_is(name, languages[i].number)) {
            *language = languages[i].language;
            return true;
        }
    return false;
}
