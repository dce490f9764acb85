/* cli/advise_html.c - tables, bars as SVG, and the findings. */
#include <string.h>

#include "advise_html.h"

enum { BAR_WIDTH = 320, BAR_HEIGHT = 12 };

static const char before[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    "<title>Advice on a data model</title><style>\n"
    "body{font:15px/1.45 system-ui,sans-serif;max-width:62em;margin:2em auto;padding:0 "
    "1em;color:#1c2330;background:#fff}\n"
    "h1{font-size:1.5em}h2{font-size:1.15em;margin:2em 0 .4em}h3{font-size:1em;margin:0}\n"
    "table{border-collapse:collapse;margin:.4em 0}td,th{text-align:left;padding:.15em 1em .15em "
    "0;vertical-align:top}\n"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}th{font-weight:600;color:#566}\n"
    ".finding{border-left:5px solid #999;padding:.4em 1em;margin:1.2em 0;background:#f7f8fa}\n"
    ".high{border-color:#c0392b}.medium{border-color:#d68910}.low{border-color:#2e86c1}\n"
    ".place{color:#566}pre{background:#eef;padding:.6em;white-space:pre-wrap;font-size:13px}rect.a{fill:#d5dae2}rect.b{fill:#"
    "2e6da4}\n"
    "</style></head><body>\n<h1>Advice on a data model</h1>\n";

/* Text of anybody's, as text. */
static void add_escaped(struct text *to, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char byte = data[i];

        if (byte == '<')
            text_puts(to, "&lt;");
        else if (byte == '>')
            text_puts(to, "&gt;");
        else if (byte == '&')
            text_puts(to, "&amp;");
        else if (byte == '"')
            text_puts(to, "&quot;");
        else if (byte == '\'')
            text_puts(to, "&#39;");
        else if ((unsigned char)byte < ' ' && byte != '\n' && byte != '\t')
            text_puts(to, "\u00b7");
        else
            text_byte(to, byte);
    }
}

static void add_string(struct text *to, orrery_value value)
{
    size_t size;
    const char *text = orrery_value_text(value, &size);

    add_escaped(to, text, size);
}

static void add_name(struct text *to, const char *name)
{
    add_escaped(to, name, strlen(name));
}

static void add_bar(struct text *to, double share)
{
    double width = share < 0 ? 0 : share > 1 ? BAR_WIDTH : share * BAR_WIDTH;

    text_printf(
        to,
        "<svg width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%.0f %%\"><rect class=\"a\" width=\"%d\" "
        "height=\"%d\"/><rect class=\"b\" width=\"%.1f\" height=\"%d\"/></svg>",
        BAR_WIDTH, BAR_HEIGHT, share * 100, BAR_WIDTH, BAR_HEIGHT, width, BAR_HEIGHT);
}

static bool is_share(const char *name)
{
    return strstr(name, "hare") != NULL; /* shareOfBytes, largestShare */
}

/* Of figures in one unit the largest has the longest bar. What one operation costs is none beside what all do. */
static bool is_units(const char *name)
{
    return strncmp(name, "requestUnits", 12) == 0 && !strstr(name, "Each");
}

/* ---- values ---- */

static void add_value(struct text *to, orrery_value value);

static void add_rows(struct text *to, orrery_value array)
{
    orrery_value element;

    for (size_t at = 0; orrery_value_next(array, &at, NULL, &element);) {
        add_value(to, element);
        text_puts(to, "<br>");
    }
}

static void add_members(struct text *to, orrery_value object)
{
    const char *name;
    orrery_value value;
    bool first = true;

    for (size_t at = 0; orrery_value_next(object, &at, &name, &value); first = false) {
        text_puts(to, first ? "" : ", ");
        add_name(to, name);
        text_byte(to, ' ');
        add_value(to, value);
    }
}

static void add_value(struct text *to, orrery_value value)
{
    switch (orrery_value_type(value)) {
    case ORRERY_STRING:
        add_string(to, value);
        break;
    case ORRERY_NUMBER:
        text_printf(to, "%.15g", orrery_value_number(value));
        break;
    case ORRERY_ARRAY:
        add_rows(to, value);
        break;
    case ORRERY_OBJECT:
        add_members(to, value);
        break;
    default:
        break;
    }
}

static double most_units(orrery_value evidence)
{
    const char *name;
    orrery_value value;
    double most = 0;

    for (size_t at = 0; orrery_value_next(evidence, &at, &name, &value);)
        if (is_units(name) && orrery_value_type(value) == ORRERY_NUMBER && orrery_value_number(value) > most)
            most = orrery_value_number(value);
    return most;
}

/* A script, whose lines are to be seen. */
static bool has_lines(orrery_value value)
{
    size_t size;
    const char *text = orrery_value_type(value) == ORRERY_STRING ? orrery_value_text(value, &size) : "";

    return strchr(text, '\n') != NULL;
}

static void add_evidence(struct text *to, orrery_value evidence)
{
    double most = most_units(evidence);
    const char *name;
    orrery_value value;

    text_puts(to, "<table>");
    for (size_t at = 0; orrery_value_next(evidence, &at, &name, &value);) {
        bool is_number = orrery_value_type(value) == ORRERY_NUMBER;

        text_puts(to, "<tr><th>");
        add_name(to, name);
        text_puts(to, is_number ? "</th><td class=\"n\">" : "</th><td colspan=\"2\">");
        text_puts(to, has_lines(value) ? "<pre>" : "");
        add_value(to, value);
        text_puts(to, has_lines(value) ? "</pre>" : "");
        text_puts(to, is_number ? "</td><td>" : "");
        if (is_number && is_share(name))
            add_bar(to, orrery_value_number(value));
        else if (is_number && is_units(name) && most > 0)
            add_bar(to, orrery_value_number(value) / most);
        text_puts(to, "</td></tr>\n");
    }
    text_puts(to, "</table>\n");
}

/* ---- findings ---- */

static void add_place(struct text *to, orrery_value finding)
{
    static const char *const members[] = { "container", "type", "path" };

    text_puts(to, "<p class=\"place\">");
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        text_puts(to, i ? " " : "");
        if (orrery_value_type(orrery_value_member(finding, members[i])) == ORRERY_STRING)
            add_string(to, orrery_value_member(finding, members[i]));
    }
    text_puts(to, "</p>\n");
}

static void add_finding(struct text *to, orrery_value finding)
{
    text_puts(to, "<div class=\"finding ");
    add_string(to, orrery_value_member(finding, "severity"));
    text_puts(to, "\"><h3>");
    add_string(to, orrery_value_member(finding, "title"));
    text_puts(to, " <small>(");
    add_string(to, orrery_value_member(finding, "rule"));
    text_puts(to, ", ");
    add_string(to, orrery_value_member(finding, "severity"));
    text_puts(to, ")</small></h3>\n");
    add_place(to, finding);
    add_evidence(to, orrery_value_member(finding, "evidence"));
    text_puts(to, "<p>");
    add_string(to, orrery_value_member(finding, "advice"));
    text_puts(to, "</p></div>\n");
}

/* ---- containers ---- */

static double number_of(orrery_value object, const char *name)
{
    return orrery_value_number(orrery_value_member(object, name));
}

/* A row with a bar for each, as long as its part of all. */
static void add_parts(struct text *to, orrery_value list, const char *label, const char *figure)
{
    const char *name = NULL;
    orrery_value part;
    double all = 0;

    for (size_t at = 0; orrery_value_next(list, &at, &name, &part);)
        all += number_of(part, figure);
    text_puts(to, "<table>");
    for (size_t at = 0; orrery_value_next(list, &at, &name, &part);) {
        text_puts(to, "<tr><td>");
        if (label && orrery_value_type(orrery_value_member(part, label)) == ORRERY_STRING)
            add_string(to, orrery_value_member(part, label));
        else if (!label && name)
            add_name(to, name);
        else
            text_puts(to, "items");
        text_printf(to, "</td><td class=\"n\">%.15g</td><td>", number_of(part, figure));
        add_bar(to, all > 0 ? number_of(part, figure) / all : 0);
        text_puts(to, "</td></tr>\n");
    }
    text_puts(to, "</table>\n");
}

static void add_container(struct text *to, orrery_value container)
{
    orrery_value operations = orrery_value_member(container, "operations");

    text_puts(to, "<h2>");
    add_string(to, orrery_value_member(container, "container"));
    text_printf(to, "</h2><p>%.15g items, %.15g of them looked at, %.15g bytes, %.15g partition keys</p>\n",
                number_of(container, "items"), number_of(container, "itemsLookedAt"),
                number_of(container, "bytes"), number_of(container, "keys"));
    add_parts(to, orrery_value_member(container, "types"), "type", "itemsLookedAt");
    if (orrery_value_type(operations) == ORRERY_OBJECT && orrery_value_count(operations) > 0) {
        text_puts(to, "<p>Request units, by kind of operation</p>\n");
        add_parts(to, operations, NULL, "charge");
    }
}

void advise_html(struct text *out, orrery_value report)
{
    orrery_value findings = orrery_value_member(report, "findings"), one;
    size_t count = orrery_value_count(findings);

    text_puts(out, before);
    text_printf(out, "<p>%zu finding%s</p>\n", count, count == 1 ? "" : "s");
    for (size_t at = 0; orrery_value_next(findings, &at, NULL, &one);)
        add_finding(out, one);
    for (size_t at = 0; orrery_value_next(orrery_value_member(report, "containers"), &at, NULL, &one);)
        add_container(out, one);
    if (orrery_value_count(orrery_value_member(report, "notSeen")) > 0)
        text_puts(out, "<h2>Not seen</h2>\n");
    text_puts(out, "<ul>\n");
    for (size_t at = 0; orrery_value_next(orrery_value_member(report, "notSeen"), &at, NULL, &one);) {
        text_puts(out, "<li>");
        add_string(out, one);
        text_puts(out, "</li>\n");
    }
    text_puts(out, "</ul></body></html>\n");
}
