/*
 * cli/advise_html.h - a report of advice as one HTML file: nothing else is needed to show it, no script, no font, no picture.
 * Whatever was stored is escaped: it never becomes a part of the page but its text.
 */
#pragma once
#include "orrery.h"
#include "text.h"

void advise_html(struct text *out, orrery_value report);
