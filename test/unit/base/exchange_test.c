/* test/unit/base/exchange_test.c - headers are found by name in any case. */
#include "base/exchange.h"
#include "test.h"

static const char *const names[] = {
#define HEADER(name, text) text,
#include "base/headers.def"
#undef HEADER
};

TEST(every_header_is_found_under_its_own_name_in_any_case)
{
    for (int id = 0; id < HEADER_COUNT; id++) {
        char upper[128] = { 0 };

        for (size_t i = 0; names[id][i]; i++) {
            char c = names[id][i];

            CHECK(c < 'A' || c > 'Z'); /* the table is in lower case */
            upper[i] = (char)(c >= 'a' && c <= 'z' ? c - 32 : c);
        }
        CHECK(header_find(slice_of(names[id])) == (enum header_id)id);
        CHECK(header_find(slice_of(upper)) == (enum header_id)id);
    }
}

TEST(a_header_we_do_not_look_at_is_not_found)
{
    CHECK(header_find(slice_of("")) == HEADER_COUNT);
    CHECK(header_find(slice_of("hos")) == HEADER_COUNT);
    CHECK(header_find(slice_of("hosts")) == HEADER_COUNT);
    CHECK(header_find(slice_of("x-ms-unheard-of")) == HEADER_COUNT);
    CHECK(header_find(slice_of("hoxt")) == HEADER_COUNT);
}

TEST(a_true_header_is_present_and_says_true)
{
    struct request request = { 0 };

    CHECK(!header_is_true(&request, HEADER_IS_UPSERT));
    request.header[HEADER_IS_UPSERT] = slice_of(" True ");
    CHECK(header_is_true(&request, HEADER_IS_UPSERT));
    request.header[HEADER_IS_UPSERT] = slice_of("1");
    CHECK(!header_is_true(&request, HEADER_IS_UPSERT));
    request.header[HEADER_IS_UPSERT] = slice_of("");
    CHECK(!header_is_true(&request, HEADER_IS_UPSERT));
}
