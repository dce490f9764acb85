/* test/unit/store/postgres_sql_test.c - the rules of the statements that only a cluster would punish (store/postgres_sql.h). */
#ifdef ORRERY_POSTGRES
#include <ctype.h>

#include "store/postgres_sql.h"
#include "test.h"

/* Whether the text has the words, whatever their case and the spaces between them. */
static bool has(const char *text, const char *words)
{
    char plain[8192];
    size_t size = 0;

    for (; *text && size + 1 < sizeof(plain); text++) {
        bool space = isspace((unsigned char)*text);

        if (space && size && plain[size - 1] == ' ')
            continue;
        plain[size++] = space ? ' ' : (char)tolower((unsigned char)*text);
    }
    plain[size] = '\0';
    return strstr(plain, words) != NULL;
}

TEST(no_statement_locks_by_reading)
{
    for (enum sql sql = 0; sql < SQL_COUNT; sql++) {
        CHECK(!has(sql_text(sql), "for update") && !has(sql_text(sql), "for no key update"));
        CHECK(!has(sql_text(sql), "for share") && !has(sql_text(sql), "for key share"));
    }
}

TEST(the_row_of_a_commit_is_a_plain_insert)
{
    for (enum sql sql = 0; sql < SQL_COUNT; sql++) {
        CHECK(!has(sql_text(sql), "update orrery_commit"));
        if (has(sql_text(sql), "into orrery_commit"))
            CHECK(!has(sql_text(sql), "on conflict") && !has(sql_text(sql), "where"));
    }
    CHECK(has(sql_text(SQL_COMMIT_ROW), "insert into orrery_commit"));
}

TEST(a_bucket_is_locked_by_an_update_of_its_head)
{
    CHECK(has(sql_text(SQL_LOCK), "update orrery_head set") && has(sql_text(SQL_LOCK), "where shard = $1"));
}

TEST(writers_read_what_is_committed_and_nothing_is_serializable)
{
    CHECK(has(sql_text(SQL_BEGIN), "isolation level read committed"));
    for (enum sql sql = 0; sql < SQL_COUNT; sql++)
        CHECK(!has(sql_text(sql), "serializable"));
}

TEST(every_statement_about_rows_names_one_shard)
{
    for (enum sql sql = SQL_HEAD; sql < SQL_COUNT; sql++)
        CHECK(has(sql_text(sql), "shard = $1") || has(sql_text(sql), "values ($1"));
}

TEST(rows_are_put_in_the_largest_statement_that_fits)
{
    size_t taken;

    for (size_t rows = 1; rows < 1000; rows++) {
        enum sql sql = sql_put(rows, &taken);

        CHECK(sql >= SQL_PUT && sql < SQL_COUNT && taken >= 1 && taken <= rows);
        CHECK(rows < 128 || taken == 128);
    }
    sql_put(1, &taken);
    CHECK(taken == 1);
}
#endif
