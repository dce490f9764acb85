"""test/citus/cluster.py - a Citus cluster that somebody has started for tests: what is asked of its coordinator.

    citus = Citus(needs("CITUS"))
    citus.move_all("a_schema", "force_logical")
"""
import os
import subprocess
import sys

from database import Given

# Few shards are made quickly, and are enough to lie on both workers.
OPTIONS = "options=-ccitus.shard_count%3D4"

WORKERS = "pg_dist_node WHERE isactive AND shouldhaveshards AND noderole = 'primary'"


def needs(name):
    """What an environment variable says. README.md tells what it is for."""
    if not os.environ.get(name):
        print("%s is not set: test/citus/README.md says what it has to be. Nothing was tested." % name, file=sys.stderr)
        sys.exit(2)
    return os.environ[name]


class Citus(Given):
    def __init__(self, where):
        super().__init__(where)
        if "options=" not in self.uri:
            self.uri += "&" + OPTIONS
        expected = self.sql("SELECT count(*) FROM pg_extension WHERE extname = 'citus'") == "1"
        workers = self.sql("SELECT count(*) FROM %s" % WORKERS) if expected else "0"
        if int(workers) < 2:
            print("CITUS names a database with %s: a coordinator with two workers is needed." %
                  (workers + " workers" if expected else "no Citus"), file=sys.stderr)
            sys.exit(2)

    def node(self, what, which):
        """`kill` or `start`, and `worker` or `coordinator`."""
        command = os.environ.get("CITUS_NODE")
        if not command:
            raise AssertionError("CITUS_NODE is not set: test/citus/README.md says what it has to be")
        subprocess.run("%s %s %s" % (command, what, which), shell=True, check=True, stdout=subprocess.DEVNULL)

    def version(self):
        return self.sql("SELECT split_part(citus_version(), ' on ', 1) || ', PostgreSQL ' || current_setting('server_version')")

    def buckets(self, schema):
        return {int(row) for row in self.sql("SELECT shard FROM %s.orrery_head" % schema).split()}

    def used_shards(self, schema, buckets=None):
        """{shard of Citus: its node}, those that have something of the buckets."""
        names = ", ".join(map(str, buckets if buckets is not None else self.buckets(schema)))
        rows = self.sql("SELECT DISTINCT p.shardid, p.nodename || ':' || p.nodeport FROM unnest(ARRAY[%s]::bigint[]) AS bucket, pg_dist_shard_placement AS p"
                        " WHERE p.shardid = get_shard_id_for_distribution_column('%s.orrery_kv', bucket)" % (names, schema))
        return dict(row.split("|") for row in rows.split("\n"))

    def workers(self):
        return self.sql("SELECT nodename || ':' || nodeport FROM %s ORDER BY nodeid" % WORKERS).split("\n")

    def move(self, shard, source, target, mode):
        places = ", ".join("'%s', %s" % tuple(place.rsplit(":", 1)) for place in (source, target))
        self.sql("SELECT citus_move_shard_placement(%s, %s, '%s')" % (shard, places, mode))

    def move_all(self, schema, mode):
        """Each shard that has data goes to the next worker. How many those are."""
        workers, used = self.workers(), self.used_shards(schema)
        for shard, place in used.items():
            self.move(shard, place, workers[(workers.index(place) + 1) % len(workers)], mode)
        return len(used)

    def bring(self, schema, buckets, target):
        for shard, place in self.used_shards(schema, buckets).items():
            if place != target:
                self.move(shard, place, target, "block_writes")

    def part(self, schema, some, others):
        """The first buckets lie on the first worker then, the others on the last."""
        ends = self.workers()[0], self.workers()[-1]
        for buckets, target in zip((some, others), ends):
            self.bring(schema, buckets, target)
        found = tuple(set(self.used_shards(schema, buckets).values()) for buckets in (some, others))
        if found != ({ends[0]}, {ends[1]}):
            raise AssertionError("the containers lie on %s and %s" % found)

    def placements(self, schema):
        """{worker: how many shards of the table it has}."""
        rows = self.sql("SELECT nodename || ':' || nodeport, count(*) FROM pg_dist_shard_placement JOIN pg_dist_shard USING (shardid)"
                        " WHERE logicalrelid = '%s.orrery_kv'::regclass GROUP BY 1 ORDER BY 1" % schema)
        return {row.split("|")[0]: int(row.split("|")[1]) for row in rows.split("\n")}

    def rebalance(self, schema):
        self.sql("SELECT rebalance_table_shards('%s.orrery_kv', rebalance_strategy := 'by_shard_count')" % schema)

    def drain(self, schema):
        """The last worker gives its shards to the others, and may have some again afterwards."""
        name, port = self.workers()[-1].rsplit(":", 1)
        setting = "SELECT citus_set_node_property('%s', %s, 'shouldhaveshards', %%s)" % (name, port)
        self.sql(setting % "false")
        try:
            self.rebalance(schema)
        finally:
            self.sql(setting % "true")

    def forget_schemas(self):
        for schema in self.sql("SELECT nspname FROM pg_namespace WHERE nspname ~ '^served_[0-9a-f]{12}$'").split():
            self.sql("SET client_min_messages = error; DROP SCHEMA %s CASCADE" % schema)
