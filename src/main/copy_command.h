/* src/main/copy_command.h - orrery copy: all data of a directory into a database, or the other way round. */
#pragma once

int copy_command(int argc, char **argv);
