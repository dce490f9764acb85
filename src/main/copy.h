/*
 * src/main/copy.h - a database under another name, and a container of an earlier moment: read and written inside the server.
 * What is copied has new rids, etags and times; ids, definitions, scripts, users, permissions, throughput, items and attachments
 * are as they were. Links of permissions that lead into the database lead into the copy.
 *
 * Threads. One, which may wait.
 */
#pragma once
#include "main/inside.h"

/* Ids. ST_NOT_FOUND when there is no such database, ST_EXISTS when the other is there. What fails leaves nothing. */
struct copied {
    size_t containers, items;
};

enum status copy_database(struct op *op, struct inside *from, struct slice from_id, struct inside *to,
                          struct slice to_id, struct copied *copied);

/*
 * A container with another's definition, scripts and throughput of now, and with the items that the other had at that moment: what
 * x-orrery-as-of takes, without attachments, of which nobody knows what they were. Links: dbs/D/colls/C.
 */
enum status copy_container_at(struct op *op, struct inside *inside, struct slice from, struct slice moment,
                              struct slice to, struct copied *copied);
