/*
 * test/fuzz/client_state_fuzz.c - any bytes as the saved state of a resolver.
 * What loads can be asked and saved, and its state loads to a resolver with the same state.
 */
#include <stdlib.h>

#include "resolver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void ask(orrery_resolver *resolver)
{
    static const char document[] = "{\"id\":\"x\",\"a\":1,\"type\":\"order\"}";
    orrery_key keys[] = { orrery_key_text("x"), orrery_key_number(1), orrery_key_time(0), orrery_key_none() };
    orrery_links *links = NULL;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        (void)orrery_resolve_create(resolver, &keys[i], &links);
        orrery_links_free(links);
        (void)orrery_resolve_read(resolver, &keys[i], &links);
        orrery_links_free(links);
    }
    (void)orrery_resolve_document(resolver, document, sizeof(document) - 1, &links);
    orrery_links_free(links);
}

static void check(const char *text, size_t size, const orrery_load_options *options)
{
    orrery_resolver *resolver = NULL, *again = NULL;
    char *first = NULL, *second = NULL;

    if (orrery_resolver_load(text, size, options, &resolver) != ORRERY_OK)
        return;
    ask(resolver);
    require(orrery_resolver_save(resolver, &first) == ORRERY_OK);
    require(orrery_resolver_load(first, ORRERY_TEXT, NULL, &again) == ORRERY_OK);
    require(orrery_resolver_save(again, &second) == ORRERY_OK && strcmp(first, second) == 0);
    orrery_resolver_unref(resolver);
    orrery_resolver_unref(again);
    orrery_free(first);
    orrery_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    orrery_load_options numbers = { .size = sizeof(numbers), .range_type = ORRERY_KEY_NUMBER };
    orrery_load_options times = { .size = sizeof(times), .range_type = ORRERY_KEY_TIME };

    check((const char *)data, size, NULL);
    check((const char *)data, size, &numbers);
    check((const char *)data, size, &times);
    return 0;
}
