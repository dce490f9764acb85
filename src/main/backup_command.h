/* src/main/backup_command.h - orrery backup: a copy of the data, by the server that has it or without one. */
#pragma once

/* Asks the server that holds the directory, or copies it when there is none. Exit status. */
int backup_command(int argc, char **argv);
