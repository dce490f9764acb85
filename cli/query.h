/* cli/query.h - a query from its text to its rows, and what it took. */
#pragma once
#include "connect.h"
#include "print.h"

struct question {
    const char *link, *sql;
    const orrery_parameter *parameter;
    size_t parameter_count;
    const orrery_key *key; /* NULL: of all */
    size_t rows_max;       /* 0: all */
    bool explain;
    bool own_lines; /* the text was typed as it stands: an error points into it */
};

struct took {
    size_t rows;
    double charge;
    int64_t us;
    char *plan; /* of the last page, if it was asked for: free() it */
};

/* Rows go to the printer. A failure was told. */
orrery_status query_run(const struct cli *cli, const struct question *question, struct printer *printer,
                        struct took *took);

/* The plan that SDKs get for a query over several ranges: JSON, to free() ; NULL: it was told why not. */
char *query_plan(const struct cli *cli, const char *link, const char *sql);

/* "1,234 rows, 12.3 RU, 4.5 ms" as far as it is wanted. */
void took_tell(const struct took *took, bool charge, bool timing);

int query_command(const struct options *options);
