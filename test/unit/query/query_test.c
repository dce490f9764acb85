/* test/unit/query/query_test.c - which texts mean: everything. */
#include "query/query.h"
#include "test.h"

static const struct {
    const char *text;
    bool everything;
} cases[] = {
    { "SELECT * FROM c", true },
    { "select*from c", true },
    { "Select * From root", true },
    { "  SELECT\n\t*\r\nFROM   my_container2  ", true },
    { "", false },
    { " ", false },
    { "SELECT", false },
    { "SELECT *", false },
    { "SELECT * FROM", false },
    { "SELECT * FROM 1", false },
    { "SELECT * FROM 1c", false },
    { "SELECT * FROM c WHERE c.a = 1", false },
    { "SELECT * FROM c ORDER BY c.a", false },
    { "SELECT * FROM c OFFSET 1 LIMIT 2", false },
    { "SELECT * FROM c c2", false },
    { "SELECT * FROM c AS d", false },
    { "SELECT * FROM c.items", false },
    { "SELECT * FROM c IN x", false },
    { "SELECT * FROM c JOIN d IN c.e", false },
    { "SELECT * FROM c;", false },
    { "SELECT * FROM c -- all", false },
    { "SELECT * FROM c x", false },
    { "SELECT TOP 1 * FROM c", false },
    { "SELECT DISTINCT * FROM c", false },
    { "SELECT VALUE c FROM c", false },
    { "SELECT c FROM c", false },
    { "SELECT ** FROM c", false },
    { "SELECT * * FROM c", false },
    { "SELECT* FROMc", false },
    { "SELECTED * FROM c", false },
    { "SELECT * FROM (SELECT * FROM c)", false },
    { "SELECT * FROM \"c\"", false },
    { "SELECT * FROM ü", false },
};

TEST(nothing_but_select_star_from_a_name_is_everything)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (query_is_everything(slice_of(cases[i].text)) != cases[i].everything)
            test_failed(__FILE__, __LINE__, cases[i].text);
}

TEST(a_text_with_a_zero_byte_is_not_everything)
{
    CHECK(!query_is_everything(slice_make("SELECT * FROM c\0WHERE", 21)));
    CHECK(!query_is_everything(slice_make("SELECT * FROM c\0", 16)));
}
