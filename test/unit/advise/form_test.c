/* test/unit/advise/form_test.c - ways to write a date. */
#include "advise/form.h"
#include "test.h"

TEST(each_way_of_writing_a_date_is_known_by_its_shape)
{
    static const struct {
        const char *text;
        enum text_form form;
    } rows[] = {
        { "2026-11-16T12:00:00Z", FORM_UTC },
        { "2026-11-16T12:00:00.1234567Z", FORM_UTC },
        { "2026-11-16 12:00:00", FORM_LOCAL },
        { "2026-11-16T12:00:00.5", FORM_LOCAL },
        { "2026-11-16T12:00:00+01:00", FORM_OFFSET },
        { "2026-11-16T12:00:00.25-0800", FORM_OFFSET },
        { "2026-11-16", FORM_DAY },
        { "11/16/2026", FORM_SLASHES },
        { "1/6/2026", FORM_SLASHES },
        { "16.11.2026", FORM_DOTS },
        { "Mon, 16 Nov 2026 12:00:00 GMT", FORM_MAIL },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK(text_form(slice_of(rows[i].text)) == rows[i].form);
}

TEST(what_only_begins_like_a_date_is_none)
{
    static const char *const texts[] = { "",           "2026-11-16x",           "2026-11-16T12:00:00.Z",
                                         "2026/11/16", "2026-11-16T12:00:00+1", "978-3-16-148410-0",
                                         "1.2.3.4567", "16.11.2026 or so",      "2026-11-16T12:00:00ZZ" };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        CHECK(text_form(slice_of(texts[i])) == FORM_PLAIN);
}
