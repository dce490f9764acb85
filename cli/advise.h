/* cli/advise.h - orrery advise: what the server says of a data model, for people or for programs. */
#pragma once
#include "options.h"

int advise_command(const struct options *options);
