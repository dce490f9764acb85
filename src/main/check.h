/* src/main/check.h - verifying a data directory: every value, and what must agree with what. */
#pragma once

/* Prints what it finds; 0 when all is well, 1 when not. Changes nothing. */
int check(const char *path);
