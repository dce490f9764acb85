/* src/query/function/signature.c - what kinds of values functions take and give. */
#include <stdlib.h>
#include <string.h>

#include "query/function/signature.h"

struct row {
    const char *name, *signature;
};

/* In the order of their names, for lookup halves it. A function that is not here may give anything. */
static const struct row rows[] = {
    { "ABS", "nn" },
    { "ACOS", "nn" },
    { "AGO", "ssn" },
    { "ARRAY_AVG", "na" },
    { "ARRAY_CONCAT", "aaa" },
    { "ARRAY_CONTAINS", "badb" },
    { "ARRAY_CONTAINS_ALL", "baU" },
    { "ARRAY_CONTAINS_ANY", "baU" },
    { "ARRAY_LENGTH", "na" },
    { "ARRAY_MAX", "Ua" },
    { "ARRAY_MEDIAN", "na" },
    { "ARRAY_MIN", "Ua" },
    { "ARRAY_SLICE", "aan" },
    { "ARRAY_SUM", "na" },
    { "ASIN", "nn" },
    { "ATAN", "nn" },
    { "ATN2", "nnn" },
    { "CEILING", "nn" },
    { "CHOOSE", "UnU" },
    { "CONCAT", "sss" },
    { "CONTAINS", "bssb" },
    { "CONTAINS_ALL_CI", "bss|bsU" },
    { "CONTAINS_ALL_CS", "bss|bsU" },
    { "CONTAINS_ANY_CI", "bss|bsU" },
    { "CONTAINS_ANY_CS", "bss|bsU" },
    { "COS", "nn" },
    { "COT", "nn" },
    { "DATETIMEADD", "ssns|s" },
    { "DATETIMEBIN", "sssns" },
    { "DATETIMEDIFF", "nsss" },
    { "DATETIMEFORMAT", "sss" },
    { "DATETIMEFROMPARTS", "snn" },
    { "DATETIMEPART", "nss" },
    { "DATETIMETOTICKS", "ns" },
    { "DATETIMETOTIMESTAMP", "ns" },
    { "DAY", "ns" },
    { "DEGREES", "nd" },
    { "DOCUMENTID", "nU" },
    { "ENDSWITH", "bssb" },
    { "EXP", "nn" },
    { "FLOOR", "nn" },
    { "FULLTEXTCONTAINS", "bsd" },
    { "FULLTEXTCONTAINSALL", "bdd" },
    { "FULLTEXTCONTAINSANY", "bdd" },
    { "GETCURRENTDATETIME", "s" },
    { "GETCURRENTDATETIMESTATIC", "s" },
    { "GETCURRENTTICKS", "n" },
    { "GETCURRENTTICKSSTATIC", "n" },
    { "GETCURRENTTIMESTAMP", "n" },
    { "GETCURRENTTIMESTAMPSTATIC", "n" },
    { "INDEX_OF", "nssn" },
    { "INTADD", "nnn" },
    { "INTBITAND", "nnn" },
    { "INTBITLEFTSHIFT", "nnn" },
    { "INTBITNOT", "nn" },
    { "INTBITOR", "nnn" },
    { "INTBITRIGHTSHIFT", "nnn" },
    { "INTBITXOR", "nnn" },
    { "INTDIV", "nnn" },
    { "INTMOD", "nnn" },
    { "INTMUL", "nnn" },
    { "INTSUB", "nnn" },
    { "IS_ARRAY", "BU" },
    { "IS_BOOL", "BU" },
    { "IS_BOOLEAN", "BU" },
    { "IS_DATETIME", "BU" },
    { "IS_DEFINED", "BU" },
    { "IS_FINITE_NUMBER", "BU" },
    { "IS_INTEGER", "BU" },
    { "IS_NULL", "BU" },
    { "IS_NUMBER", "BU" },
    { "IS_OBJECT", "BU" },
    { "IS_PRIMITIVE", "BU" },
    { "IS_STRING", "BU" },
    { "LASTINDEXOF", "nssN" },
    { "LASTSUBSTRINGAFTER", "sss" },
    { "LASTSUBSTRINGBEFORE", "sss" },
    { "LEFT", "ssn" },
    { "LENGTH", "nd" },
    { "LOG", "nnn" },
    { "LOG10", "nn" },
    { "LOWER", "ss" },
    { "LTRIM", "sss" },
    { "MONTH", "ns" },
    { "NOW", "ssn" },
    { "NUMBERBIN", "nnn" },
    { "OBJECTTOARRAY", "adU" },
    { "PI", "n" },
    { "POWER", "nnn" },
    { "RADIANS", "nn" },
    { "RAND", "n" },
    { "REGEXEXTRACT", "ssssn" },
    { "REGEXEXTRACTALL", "asssa" },
    { "REGEXMATCH", "bsss" },
    { "REGEXREPLACE", "sssss" },
    { "REGEXREPLACEALL", "sssss" },
    { "REPLACE", "ssss" },
    { "REPLICATE", "sdd" },
    { "REVERSE", "ss" },
    { "RIGHT", "ssn" },
    { "ROUND", "nnn" },
    { "RTRIM", "sss" },
    { "SETDIFFERENCE", "aaa" },
    { "SETEQUAL", "baa" },
    { "SETINTERSECT", "aaa" },
    { "SETUNION", "aaa" },
    { "SIGN", "nn" },
    { "SIN", "nn" },
    { "SQRT", "nn" },
    { "SQUARE", "nn" },
    { "STARTSWITH", "bssb" },
    { "STRINGEQUALS", "bssb" },
    { "STRINGJOIN", "sas" },
    { "STRINGSPLIT", "ass" },
    { "STRINGTOARRAY", "ad" },
    { "STRINGTOBOOLEAN", "bd" },
    { "STRINGTONULL", "Ud" },
    { "STRINGTONUMBER", "nd" },
    { "STRINGTOOBJECT", "od" },
    { "ST_AREA", "nd" },
    { "ST_DISTANCE", "ndd" },
    { "ST_INTERSECTS", "bdd" },
    { "ST_ISVALID", "bU" },
    { "ST_ISVALIDDETAILED", "oU" },
    { "ST_WITHIN", "bdd" },
    { "SUBSTRING", "ssnn" },
    { "SUBSTRINGAFTER", "sss" },
    { "SUBSTRINGBEFORE", "sss" },
    { "TAN", "nn" },
    { "TICKSTODATETIME", "sns" },
    { "TIMESTAMPTODATETIME", "sns" },
    { "TOSTRING", "sd" },
    { "TRIM", "sss" },
    { "TRUNC", "nd" },
    { "UPPER", "ss" },
    { "VECTORDISTANCE", "nU" },
    { "YEAR", "ns" },
    { "_VECTORSCORE", "nU" },
};

static int by_name(const void *name, const void *row)
{
    return strcmp(name, ((const struct row *)row)->name);
}

const char *builtin_signature(const struct builtin *builtin, size_t count)
{
    const struct row *row =
        bsearch(builtin->name, rows, sizeof(rows) / sizeof(rows[0]), sizeof(rows[0]), by_name);
    const char *other = row ? strchr(row->signature, '|') : NULL;

    if (!row)
        return NULL;
    return other && other != row->signature + 1 + count ? other + 1 : row->signature;
}

char signature_next(const char **at)
{
    char letter = **at == '|' ? '\0' : **at;

    if (letter && (*at)[1] && (*at)[1] != '|')
        (*at)++;
    return letter;
}
