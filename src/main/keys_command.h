/* src/main/keys_command.h - orrery keys: showing the account's keys, and giving one a new value. */
#pragma once

/* orrery keys show, orrery keys rotate NAME. Exit status. */
int keys_command(int argc, char **argv);
