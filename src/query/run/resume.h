/*
 * src/query/run/resume.h - where a client that merges several ranges goes on in one of them: a request's resumeFilter, as
 * a position. It says by itself where rows begin, so that it needs no continuation; with one, the further counts.
 */
#pragma once
#include "query/run/position.h"

struct fill;

/* Whether rows begin further behind there than at the position. Neither has a string that is cut. */
bool resume_is_behind(const struct fill *fill, const struct position *resume, const struct position *at);
