/*
 * cli/reshape.h - orrery reshape PLAN.json: a container becomes what a plan says, while it is in use.
 * Beside the container NAME another one is made, NAME-reshaped. It gets the items as they are, then every change of all versions and
 * deletions, is compared with the old one as of one LSN, and in the end takes its name. Writers wait for no more than that moment.
 * How far it came is an item of the container orrery-reshape: whoever runs the command again goes on there.
 */
#pragma once
#include "options.h"

int reshape_command(const struct options *options);
