/* test/unit/query/function/date_test.c - the calendar, and functions of dates and times called directly. */
#include "call.h"
#include "query/function/datetime.h"
#include "test.h"

#define TICKS_FIRST (-116444736000000000)
#define TICKS_LAST 2534023007999999999

static bool date(const char *name, const char *args, const char *expected)
{
    return gives(&builtins_date, name, args, expected);
}

/* Any moment of the years 1 to 9999. */
static int64_t random_ticks(void)
{
    return TICKS_FIRST + (int64_t)(test_random() % (uint64_t)(TICKS_LAST - TICKS_FIRST + 1));
}

static enum datetime_part random_part(void)
{
    return test_random() % (DATETIME_NANOSECOND + 1);
}

static int64_t parsed(const char *text)
{
    int64_t ticks = INT64_MIN;

    CHECK(datetime_parse(slice_of(text), &ticks));
    return ticks;
}

TEST(the_calendar_has_its_first_and_last_moment)
{
    char text[DATETIME_SIZE + 1];

    CHECK(parsed("1601-01-01") == TICKS_FIRST);
    CHECK(parsed("9999-12-31T23:59:59.9999999Z") == TICKS_LAST);
    CHECK(parsed("1970-01-01T00:00:00Z") == 0);
    CHECK(parsed("1601-01-01") == -116444736000000000);
    CHECK(datetime_in_range(TICKS_FIRST) && !datetime_in_range(TICKS_FIRST - 1));
    CHECK(datetime_in_range(TICKS_LAST) && !datetime_in_range(TICKS_LAST + 1));
    datetime_print(TICKS_LAST, text);
    CHECK(strcmp(text, "9999-12-31T23:59:59.9999999Z") == 0);
}

enum { DAYS = 3067671, DAYS_OF_400_YEARS = 146097 };

static bool follows(struct datetime next, struct datetime at)
{
    bool same_month = next.year == at.year && next.month == at.month && next.day == at.day + 1;
    bool next_month = next.year == at.year && next.month == at.month + 1 && next.day == 1 && at.day >= 28;
    bool next_year =
        next.year == at.year + 1 && next.month == 1 && next.day == 1 && at.month == 12 && at.day == 31;

    return same_month || next_month || next_year;
}

/* The last day it came to. */
static struct datetime walk_days(int64_t first, int64_t last)
{
    struct datetime at = datetime_split(TICKS_FIRST + first * 86400 * TICKS_PER_SECOND);
    int64_t ticks;

    for (int64_t day = first + 1; day <= last; day++) {
        struct datetime next = datetime_split(TICKS_FIRST + day * 86400 * TICKS_PER_SECOND);

        if (!follows(next, at) || !datetime_join(&next, &ticks) ||
            ticks != TICKS_FIRST + day * 86400 * TICKS_PER_SECOND)
            return at;
        at = next;
    }
    return at;
}

/* Four hundred years have every kind of year: the first and the last of all. */
TEST(each_day_follows_the_day_before_it)
{
    struct datetime first = datetime_split(TICKS_FIRST), at = walk_days(0, DAYS_OF_400_YEARS);

    CHECK(first.year == 1601 && first.month == 1 && first.day == 1);
    CHECK(at.year == 2001 && at.month == 1 && at.day == 1);
    at = walk_days(DAYS - DAYS_OF_400_YEARS, DAYS - 1);
    CHECK(at.year == 9999 && at.month == 12 && at.day == 31);
}

TEST(years_divisible_by_100_are_leap_years_only_by_400)
{
    int64_t ticks;

    CHECK(datetime_parse(slice_of("2000-02-29"), &ticks));
    CHECK(datetime_parse(slice_of("2024-02-29"), &ticks));
    CHECK(!datetime_parse(slice_of("1900-02-29"), &ticks));
    CHECK(!datetime_parse(slice_of("2023-02-29"), &ticks));
}

TEST(printing_then_parsing_gives_the_same_ticks)
{
    for (int i = 0; i < 100000; i++) {
        int64_t ticks = random_ticks(), again = 0;
        char text[DATETIME_SIZE + 1];

        datetime_print(ticks, text);
        CHECK(strlen(text) == DATETIME_SIZE);
        CHECK(datetime_parse(slice_of(text), &again) && again == ticks);
    }
}

TEST(text_sorts_as_ticks_do)
{
    for (int i = 0; i < 20000; i++) {
        int64_t a = random_ticks(), b = random_ticks();
        char left[DATETIME_SIZE + 1], right[DATETIME_SIZE + 1];

        datetime_print(a, left);
        datetime_print(b, right);
        CHECK((a < b) == (strcmp(left, right) < 0));
    }
}

TEST(forms_other_than_the_documented_ones_are_no_dates)
{
    static const char *const good[] = {
        "2024-12-12",
        "2024-12-12Z",
        "2024-12-12 20:21:25",
        "2024-12-12T20:21:25Z",
        "2024-12-12T20:21:25.1",
        "2024-12-12 20:21:25.123Z",
        "2024-12-12T20:21:25.1234567Z",
    };
    static const char *const bad[] = {
        "",
        "2024",
        "2024-12",
        "2024-12-12T",
        "2024-12-12T20Z",
        "2024-12-12T20:21",
        "2024-12-12 20:21:25.",
        "2024-12-12T20:21:25.12345678Z",
        "2024-12-12T20:21:25.01234567",
        "2024-12-12t20:21:25",
        "2024-12-12T20:21:25z",
        "2024-12-12T20:21:25+15:00",
        "2024-12-12T20:21:25+2",
        "1600-12-31",
        "2024-12-12T20:21:25+02:60",
        "2024-12-12T20:21:25ZZ",
        " 2024-12-12",
        "2024-12-12 ",
        "24-12-12",
        "2024-1-12",
        "2024-13-12",
        "2024-00-12",
        "2024-04-31",
        "2024-04-00",
        "0000-01-01",
        "2024-12-12T24:00:00",
        "2024-12-12T20:60:00",
        "2024-12-12T20:21:60",
        "+024-12-12",
        "2024/12/12",
    };
    int64_t ticks;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        CHECK(datetime_parse(slice_of(good[i]), &ticks));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (datetime_parse(slice_of(bad[i]), &ticks))
            printf("taken for a date: '%s'\n", bad[i]);
        CHECK(!datetime_parse(slice_of(bad[i]), &ticks));
    }
}

TEST(adding_then_counting_gives_what_was_added)
{
    for (int i = 0; i < 100000; i++) {
        enum datetime_part part = random_part();
        int64_t ticks = random_ticks(), amount = (int64_t)test_random() >> (test_random() % 62), later;

        if (part == DATETIME_NANOSECOND)
            amount = amount / 100 * 100;
        if (!datetime_add(part, amount, ticks, &later))
            continue;
        CHECK(datetime_in_range(later));
        CHECK(amount >= 0 ? later >= ticks : later < ticks);
        CHECK(datetime_diff(part, ticks, later) == amount);
        CHECK(datetime_diff(part, later, ticks) == -amount);
    }
}

TEST(adding_past_the_calendar_is_refused_whatever_the_amount)
{
    static const int64_t amounts[] = { INT64_MIN, INT64_MIN / 2, INT64_MAX / 2, INT64_MAX };
    int64_t result;

    for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++)
        for (int part = DATETIME_YEAR; part < DATETIME_NANOSECOND; part++)
            CHECK(!datetime_add(part, amounts[i], 0, &result));
    CHECK(datetime_add(DATETIME_NANOSECOND, INT64_MAX, 0, &result) &&
          result == INT64_MAX / 100); /* 07 left */
    CHECK(!datetime_add(DATETIME_NANOSECOND, 100, TICKS_LAST, &result));
    CHECK(!datetime_add(DATETIME_MONTH, 1, TICKS_LAST, &result));
    CHECK(!datetime_add(DATETIME_YEAR, -1, TICKS_FIRST, &result));
}

TEST(a_day_the_month_lacks_becomes_its_last)
{
    CHECK(date("DATETIMEADD", "['mm',1,'2021-01-31']", "'2021-02-28T00:00:00.0000000Z'"));
    CHECK(date("DATETIMEADD", "['mm',1,'2020-01-31T01:02:03.4Z']", "'2020-02-29T01:02:03.4000000Z'"));
    CHECK(date("DATETIMEADD", "['yyyy',1,'2020-02-29']", "'2021-02-28T00:00:00.0000000Z'"));
    CHECK(date("DATETIMEADD", "['mm',-13,'2021-03-31']", "'2020-02-29T00:00:00.0000000Z'"));
}

TEST(a_bin_holds_its_moment_and_its_start_is_in_it)
{
    for (int i = 0; i < 100000; i++) {
        enum datetime_part part = random_part();
        int64_t ticks = random_ticks(), origin = random_ticks(), size = 1 + (int64_t)(test_random() % 5000);
        int64_t start, again, next;

        if (!datetime_bin(part, value_int(size), origin, ticks, &start))
            continue; /* it would begin before the year 1601, or the part has no bins */
        CHECK(start <= ticks);
        CHECK(datetime_bin(part, value_int(size), origin, start, &again) && again == start);
        if (part != DATETIME_NANOSECOND && datetime_add(part, size, start, &next) && part > DATETIME_MONTH)
            CHECK(next > ticks);
    }
}

TEST(months_and_years_have_no_bins)
{
    CHECK(date("DATETIMEBIN", "['2021-03-14','mm',1]", "undefined"));
    CHECK(date("DATETIMEBIN", "['2021-03-15','yyyy',4]", "undefined"));
    CHECK(date("DATETIMEBIN", "['2021-03-15','dw',1]", "undefined"));
}

TEST(a_bin_has_a_size_an_origin_and_limits)
{
    CHECK(date("DATETIMEBIN", "['2021-01-08T18:35:00','dd']", "'2021-01-08T00:00:00.0000000Z'"));
    CHECK(date("DATETIMEBIN", "['2021-01-08T18:35:00','hh',5]", "'2021-01-08T15:00:00.0000000Z'"));
    CHECK(date("DATETIMEBIN", "['2021-01-08T18:35:00','dd',7]", "'2021-01-07T00:00:00.0000000Z'"));
    CHECK(
        date("DATETIMEBIN", "['2021-01-08T18:35:00','dd',7,'1601-01-01']", "'2021-01-04T00:00:00.0000000Z'"));
    CHECK(date("DATETIMEBIN", "['2021-01-08','dd',7,'1600-12-31']", "undefined"));
    CHECK(date("DATETIMEBIN", "['2021-01-08','dd',0]", "undefined"));
    CHECK(date("DATETIMEBIN", "['2021-01-08','dd',-1]", "undefined"));
    CHECK(date("DATETIMEBIN", "['2021-01-01','dd',1.5]", "'2020-12-31T00:00:00.0000000Z'"));
    CHECK(date("DATETIMEBIN", "['2021-01-08','dd',9223372036854775807]", "'1970-01-01T00:00:00.0000000Z'"));
    CHECK(date("DATETIMEBIN", "['2021-01-08','dd',1e300]", "undefined"));
    CHECK(date("DATETIMEBIN", "['2021-01-08T00:00:00.1234567','ns',99]", "undefined"));
    CHECK(date("DATETIMEBIN", "['2021-01-08T00:00:00.1234567','ns',100]", "'2021-01-08T00:00:00.1234567Z'"));
    CHECK(date("DATETIMEBIN", "['2021-01-08T00:00:00.1234567','ns',1000]", "'2021-01-08T00:00:00.1234560Z'"));
    CHECK(date("DATETIMEBIN", "['2021-01-08','dd',1,0]", "undefined"));
    CHECK(date("DATETIMEBIN", "['2021-01-08','week']", "undefined"));
}

TEST(a_difference_counts_boundaries_and_not_durations)
{
    CHECK(date("DATETIMEDIFF", "['yyyy','2020-12-31T23:59:59','2021-01-01']", "1"));
    CHECK(date("DATETIMEDIFF", "['mm','2019-02-04T16:00:00','2018-03-05T05:00:00']", "-11"));
    CHECK(date("DATETIMEDIFF", "['dd','2018-03-05T05:00:00','2019-02-04T16:00:00']", "336"));
    CHECK(date("DATETIMEDIFF", "['hh','2018-03-05T05:00:00','2019-02-04T16:00:00']", "8075"));
    CHECK(date("DATETIMEDIFF", "['dd','1969-12-31T23:59:59.9999999','1970-01-01']", "1"));
    CHECK(date("DATETIMEDIFF", "['ms','2020-01-01T00:00:00.0009999','2020-01-01T00:00:00.001']", "0"));
    CHECK(date("DATETIMEDIFF", "['ms','1969-12-31T23:59:59.9999999Z','2020-12-31T10:00:00.5Z']",
               "1609408800501"));
    CHECK(date("DATETIMEDIFF", "['ns','2020-01-01','2020-01-01T00:00:00.0000001']", "100"));
    CHECK(date("DATETIMEDIFF", "['ns','2020-12-31T10:00:00.5Z','9999-12-31T23:59:59.9999999Z']",
               "-6461525032433722724"));
    CHECK(date("DATETIMEDIFF", "['weeks','2020-01-01','2020-01-02']", "undefined"));
}

TEST(parts_have_three_names_in_any_case)
{
    static const struct {
        const char *names[3], *value;
    } part[] = {
        { { "year", "YYYY", "yy" }, "2016" },    { { "Month", "mm", "m" }, "5" },
        { { "day", "dd", "d" }, "29" },          { { "hour", "HH" }, "8" },
        { { "minute", "mi", "n" }, "30" },       { { "second", "ss", "s" }, "7" },
        { { "millisecond", "ms" }, "130" },      { { "microsecond", "mcs" }, "130161" },
        { { "nanosecond", "ns" }, "130161700" },
    };
    char args[64];

    for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
        for (int j = 0; j < 3 && part[i].names[j]; j++) {
            snprintf(args, sizeof(args), "['%s','2016-05-29T08:30:07.1301617']", part[i].names[j]);
            CHECK(date("DATETIMEPART", args, part[i].value));
        }
    CHECK(date("DATETIMEPART", "['weekday','2016-05-29']", "0"));
    CHECK(date("YEAR", "['2000-10-09']", "2000"));
    CHECK(date("MONTH", "['2000-10-09']", "10"));
    CHECK(date("DAY", "['2000-10-09']", "9"));
}

TEST(parts_make_a_moment_when_there_is_such_a_one)
{
    CHECK(date("DATETIMEFROMPARTS", "[2017,4,20]", "'2017-04-20T00:00:00.0000000Z'"));
    CHECK(date("DATETIMEFROMPARTS", "[2017,4,20,13,15,20,3456789]", "'2017-04-20T13:15:20.3456789Z'"));
    CHECK(date("DATETIMEFROMPARTS", "[-2000,-1,-1]", "undefined"));
    CHECK(date("DATETIMEFROMPARTS", "[2021,2,29]", "undefined"));
    CHECK(date("DATETIMEFROMPARTS", "[2021,2,28,24]", "undefined"));
    CHECK(date("DATETIMEFROMPARTS", "[2021,2,28,0,0,0,12345678]", "'2021-02-28T00:00:00.1234567Z'"));
    CHECK(date("DATETIMEFROMPARTS", "[2021,2,28,0,0,0,-1]", "undefined"));
    CHECK(date("DATETIMEFROMPARTS", "[2021,2,1.5]", "undefined"));
    CHECK(date("DATETIMEFROMPARTS", "[10000,1,1]", "undefined"));
}

TEST(a_pattern_prints_its_fields_and_keeps_the_rest)
{
    CHECK(date("DATETIMEFORMAT", "['2024-10-10 14:40:20','yyyyMMdd']", "'20241010'"));
    CHECK(
        date("DATETIMEFORMAT", "['2024-10-10 14:40:20','yyyy-MM-dd [HH:mm:ss]']", "'2024-10-10 [14:40:20]'"));
    CHECK(date("DATETIMEFORMAT", "['2024-10-10 14:40:20','To\\\\da\\\\y: ss.fff']", "'Today: 20.000'"));
    CHECK(date("DATETIMEFORMAT", "['2024-10-10 14:40:20','ss.FFF']", "'20.'"));
    CHECK(date("DATETIMEFORMAT", "['2024-10-10 14:40:20.0123','ss.FFF ss.fff ss.FFFFFFF']",
               "'20.012 20.012 20.0123000'"));
    CHECK(date("DATETIMEFORMAT", "['2024-01-02 14:05:06','yy M d h:m:s tt']", "'24 1 2 2:5:6 PM'"));
    CHECK(date("DATETIMEFORMAT", "['2024-01-02 00:05:06','hh H tt']", "'12 0 AM'"));
    CHECK(date("DATETIMEFORMAT", "['2024-01-02','ééé yyyy']", "'ééé 2024'"));
    CHECK(date("DATETIMEFORMAT", "['2024-01-02','']", "undefined"));
    CHECK(date("DATETIMEFORMAT", "['2024-01-02','ddd t ttt']", "'02 t AM'"));
    CHECK(date("DATETIMEFORMAT", "['2024-01-02','yyyyy yyy']", "'2024 24'"));
    CHECK(date("DATETIMEFORMAT", "['2024-01-02','ffffffff']", "'0000000'"));
    CHECK(date("DATETIMEFORMAT", "['2024-01-02','yyyy\\\\']", "'2024'"));
    CHECK(date("DATETIMEFORMAT", "['2024-01-02',1]", "undefined"));
}

TEST(the_seven_digit_pattern_is_the_common_form)
{
    for (int i = 0; i < 1000; i++) {
        char text[DATETIME_SIZE + 1];
        struct buf out;
        int64_t ticks = random_ticks();

        buf_init(&out, &test_op()->arena);
        datetime_print(ticks, text);
        datetime_format(&out, ticks, slice_of("yyyy-MM-ddTHH:mm:ss.fffffffZ"));
        CHECK(slice_is(buf_as_slice(&out), text));
    }
}

TEST(ticks_and_timestamps_count_from_1970_both_ways)
{
    CHECK(date("DATETIMETOTICKS", "['2015-05-19T12:00:00.0000000']", "14320368000000000"));
    CHECK(date("DATETIMETOTIMESTAMP", "['2015-05-19T12:00:00.0000000']", "1432036800000"));
    CHECK(date("DATETIMETOTIMESTAMP", "['1969-12-31T23:59:59.9999999']", "0"));
    CHECK(date("TICKSTODATETIME", "[15973607943002652]", "'2020-08-13T23:19:54.3002652Z'"));
    CHECK(date("TICKSTODATETIME", "[-116444736000000000]", "'1601-01-01T00:00:00.0000000Z'"));
    CHECK(date("TICKSTODATETIME", "[2534023008000000000]", "undefined"));
    CHECK(date("TICKSTODATETIME", "[0.5]", "undefined"));
    CHECK(date("TIMESTAMPTODATETIME", "[1597360794300]", "'2020-08-13T23:19:54.3000000Z'"));
    CHECK(date("TIMESTAMPTODATETIME", "[-11644473600000]", "'1601-01-01T00:00:00.0000000Z'"));
    CHECK(date("TIMESTAMPTODATETIME", "[9223372036854775807]", "undefined"));
    CHECK(date("TIMESTAMPTODATETIME", "['0']", "undefined"));
}

static int64_t ticks_of(struct value text)
{
    int64_t ticks = 0;

    CHECK(text.kind == JSON_STRING && datetime_parse(text.string, &ticks));
    return ticks;
}

TEST(the_clock_is_the_operations_and_moves)
{
    int64_t now_ms = env_now_ms(test_op()->env);

    CHECK(call(&builtins_date, "GETCURRENTTIMESTAMP", "[]").integer == now_ms);
    env_advance_ms(test_op()->env, 1500);
    now_ms += 1500;
    CHECK(call(&builtins_date, "GETCURRENTTIMESTAMP", "[]").integer == now_ms);
    CHECK(call(&builtins_date, "GETCURRENTTICKS", "[]").integer == now_ms * TICKS_PER_MS);
    CHECK(ticks_of(call(&builtins_date, "GETCURRENTDATETIME", "[]")) == now_ms * TICKS_PER_MS);
    CHECK(ticks_of(call(&builtins_date, "NOW", "[]")) == now_ms * TICKS_PER_MS);
    CHECK(ticks_of(call(&builtins_date, "NOW", "['ss',30]")) == (now_ms + 30000) * TICKS_PER_MS);
    CHECK(ticks_of(call(&builtins_date, "AGO", "['ms',4]")) == (now_ms - 4) * TICKS_PER_MS);
    CHECK(ticks_of(call(&builtins_date, "NOW", "['30s']")) == (now_ms + 30000) * TICKS_PER_MS);
    CHECK(ticks_of(call(&builtins_date, "AGO", "['-4ms']")) == (now_ms + 4) * TICKS_PER_MS);
    CHECK(date("NOW", "['ss',0.5]", "undefined"));
    CHECK(date("AGO", "['ss',-9223372036854775808]", "undefined"));
    CHECK(date("AGO", "['weeks',1]", "undefined"));
}

static struct value run(struct eval *eval, const char *name)
{
    for (size_t i = 0; i < builtins_date.count; i++)
        if (strcmp(builtins_date.row[i].name, name) == 0)
            return builtins_date.row[i].code(eval, NULL, 0);
    return value_undefined;
}

TEST(the_static_clock_stands_still_while_a_query_runs)
{
    struct eval eval = test_eval();

    eval.static_ticks = 15973607943002652;
    env_advance_ms(test_op()->env, 99);
    CHECK(run(&eval, "GETCURRENTTICKSSTATIC").integer == 15973607943002652);
    CHECK(run(&eval, "GETCURRENTTIMESTAMPSTATIC").integer == 1597360794300);
    CHECK(ticks_of(run(&eval, "GETCURRENTDATETIMESTATIC")) == 15973607943002652);
}

TEST(wrong_types_and_undefined_give_undefined)
{
    static const char *const wrong[] = { "null", "true", "1", "'x'", "['2020-01-01']", "'<undefined>'" };
    static const char *const calls[][2] = {
        { "DATETIMEADD", "['dd',1,%s]" },
        { "DATETIMEADD", "[%s,1,'2020-01-01']" },
        { "DATETIMEBIN", "[%s,'dd']" },
        { "DATETIMEDIFF", "['dd',%s,'2020-01-01']" },
        { "DATETIMEDIFF", "['dd','2020-01-01',%s]" },
        { "DATETIMEFORMAT", "[%s,'yyyy']" },
        { "DATETIMEPART", "['dd',%s]" },
        { "DATETIMEPART", "[%s,'2020-01-01']" },
        { "DATETIMETOTICKS", "[%s]" },
        { "DATETIMETOTIMESTAMP", "[%s]" },
        { "DAY", "[%s]" },
        { "MONTH", "[%s]" },
        { "YEAR", "[%s]" },
        { "NOW", "[%s,1]" },
        { "AGO", "[%s,1]" },
        { "DATETIMEFROMPARTS", "[2020,%s,99]" },
    };

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        for (size_t w = 0; w < sizeof(wrong) / sizeof(wrong[0]); w++) {
            const char *hole = strstr(calls[i][1], "%s");
            char args[96];

            snprintf(args, sizeof(args), "%.*s%s%s", (int)(hole - calls[i][1]), calls[i][1], wrong[w],
                     hole + 2);
            CHECK(date(calls[i][0], args, "undefined"));
        }
}
