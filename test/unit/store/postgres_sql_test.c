/* test/unit/store/postgres_sql_test.c - the rules of the statements that only a cluster would punish (store/postgres_sql.h). */
#ifdef ORRERY_POSTGRES
#include <ctype.h>

#include "store/postgres_sql.h"
#include "test.h"

/* How often the text has the words, whatever their case and the spaces between them. */
static size_t count_of(const char *text, const char *words)
{
    char plain[8192];
    size_t size = 0, count = 0;

    for (; *text && size + 1 < sizeof(plain); text++) {
        bool space = isspace((unsigned char)*text);

        if (space && size && plain[size - 1] == ' ')
            continue;
        plain[size++] = space ? ' ' : (char)tolower((unsigned char)*text);
    }
    plain[size] = '\0';
    for (const char *at = strstr(plain, words); at; at = strstr(at + 1, words))
        count++;
    return count;
}

static bool has(const char *text, const char *words)
{
    return count_of(text, words) > 0;
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

/* Each table that it names is bound to the shard of the first parameter: one database has all that it is about. */
static bool stays_in_one_shard(const char *text)
{
    size_t rows = count_of(text, "($1");

    if (has(text, "insert into"))
        return rows > 0 && has(text, " (shard") && count_of(text, "orrery_") == 1 &&
               count_of(text, "($") == rows && !has(text, "select");
    return count_of(text, "orrery_") > 0 && count_of(text, "orrery_") == count_of(text, "shard = ") &&
           has(text, "shard = $1") &&
           count_of(text, "shard = $1") + count_of(text, "kv.shard = head.shard") ==
               count_of(text, "shard = ");
}

TEST(every_statement_about_rows_names_one_shard)
{
    for (enum sql sql = SQL_HEAD; sql < SQL_COUNT; sql++)
        CHECK(stays_in_one_shard(sql_text(sql)));
    CHECK(!stays_in_one_shard("DELETE FROM orrery_kv WHERE key = $2"));
    CHECK(
        !stays_in_one_shard("DELETE FROM orrery_kv WHERE shard = $1 AND key IN (SELECT key FROM orrery_kv)"));
    CHECK(!stays_in_one_shard("SELECT 1 FROM orrery_kv JOIN orrery_head ON true WHERE shard = $1"));
    CHECK(!stays_in_one_shard("INSERT INTO orrery_kv (shard, key) VALUES ($1, $2), ($3, $4)"));
    CHECK(!stays_in_one_shard("INSERT INTO orrery_kv (shard, key) SELECT $1, unnest($2)"));
}

TEST(no_statement_moves_a_row_to_another_shard)
{
    for (enum sql sql = 0; sql < SQL_COUNT; sql++)
        CHECK(!has(sql_text(sql), "set shard"));
}

/* The databases of a cluster have a clock, transaction numbers, locks and sequences each of their own. */
TEST(no_statement_asks_for_what_each_database_has_for_itself)
{
    static const char *const words[] = { "now()", "timestamp", "xmin",    "ctid",    "txid",
                                         "xact",  "advisory",  "nextval", "listen ", "notify " };

    for (enum sql sql = 0; sql < SQL_COUNT; sql++)
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            CHECK(!has(sql_text(sql), words[i]));
}

TEST(the_tables_that_are_distributed_have_the_shard_in_their_key)
{
    const char *made = sql_schema[0];

    CHECK(has(made, "create table orrery_kv (shard bigint") && has(made, "primary key (shard, key)"));
    CHECK(has(made, "create table orrery_head (shard bigint primary key"));
    CHECK(has(made, "create table orrery_commit (shard bigint") && has(made, "primary key (shard, lsn)"));
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
