/* cli/import.h - orrery import: files into a container, or a whole database that orrery export --all wrote. */
#pragma once
#include "loader.h"
#include "options.h"

struct importer;

int import_command(const struct options *options);

/* For restore.c and samples.c. Rejects are told by the importer's own rules. */
bool import_mode(const char *name, enum load_mode *mode);
