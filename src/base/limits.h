/*
 * src/base/limits.h - everything that grows, and how far.
 * Beside a figure stands the service's own, where there is one, and where it is written.
 */
#pragma once

enum {
    /* Items. Service: 2 MB of JSON text, 128 levels ("Azure Cosmos DB service quotas", per-item limits). */
    ITEM_BYTES_MAX = 2 * 1024 * 1024,
    JSON_DEPTH_MAX = 128,
    ARRAY_COUNT_SENSIBLE = 50 * 1000, /* not refused: past half of it the log says so once */
    PATCH_OPERATIONS_MAX = 10,        /* service: the same ("Partial document update", FAQ) */

    /* Batches. Service: 100 operations ("Transactional batch operations", Limitations), a body of 2,202,010 bytes
       (.NET SDK, MaxDirectModeBatchRequestBodySizeInBytes), an answer of less than ten items of 1 MB (its tests). */
    BATCH_OPERATIONS_MAX = 100,
    BATCH_BYTES_MAX = 2202010,
    BATCH_ANSWER_BYTES_MAX = 10 * 1024 * 1024,

    /* Of a transaction over several containers: the service's article on distributed transactions. */
    TRANSACTION_OPERATIONS_MAX = 100,
    TRANSACTION_BYTES_MAX = 2 * 1024 * 1024,
    TRANSACTION_KEPT_HOURS_DEFAULT = 24,

    /* What the records of transactions may have on disk, before new transactions are refused. */
    LEDGER_BYTES_MAX = 1024 * 1024 * 1024,

    /* Attachments. Service: 2 GB of media in an account, no figure for one ("Azure Cosmos DB service quotas", until 2020). */
    ATTACHMENTS_MAX = 100, /* of an item */
    ATTACHMENT_BODY_BYTES_MAX = 64 * 1024,
    MEDIA_BYTES_MAX = 2 * 1024 * 1024,
    MEDIA_TYPE_BYTES_MAX = 255,

    SNAPSHOTS_MAX = 100, /* of the account: each keeps what was changed since, on disk or in memory */

    /* Identifiers. Service: item id 1,023 bytes, other ids 255 characters (same page). */
    ITEM_ID_BYTES_MAX = 1023,
    RESOURCE_ID_CHARS_MAX = 255,
    JWT_BYTES_MAX = 32 * 1024,         /* 200 groups make 8 KB */
    JWT_LEEWAY_MS = 60 * 1000,         /* between our clock and an identity provider's */
    TARGET_PATH_BYTES_MAX = 16 * 1024, /* the longest ids, each byte percent-encoded, make 12.5 KB */

    /* Partition keys. Service: 2,048 bytes a value, three levels (same page). */
    PARTITION_KEY_BYTES_MAX = 2048,
    PARTITION_KEY_PATHS_MAX = 3,

    /* Containers. Service: 20 computed properties, 8 paths in each of 100 composite indexes, 10 unique keys of 16
       paths, 1,500 included and 1,500 excluded paths (same page). */
    COMPUTED_PROPERTIES_MAX = 20,
    COMPOSITE_PATHS_MAX = 8,
    COMPOSITE_INDEXES_MAX = 100,
    INDEX_PATHS_MAX = 1500,
    UNIQUE_KEYS_MAX = 10,
    UNIQUE_KEY_PATHS_MAX = 16,
    PATH_BYTES_MAX = 1024,

    /* Vectors. Service: 4,096 dimensions (documentation, "Vector search"); the others are told by its errors, as
       azure-sdk-for-python, test_vector_policy.py, has them. */
    VECTOR_DIMENSIONS_MAX = 4096,
    VECTOR_DIMENSIONS_DEFAULT = 1536,
    VECTOR_SHARD_PATHS_MAX = 1,
    VECTOR_FLAT_DIMENSIONS_MAX = 505,
    QUANTIZED_BYTES_MAX = 512,
    SEARCH_LIST_MIN = 25,
    SEARCH_LIST_MAX = 500,
    SEARCH_LIST_DEFAULT = 100, /* documentation */
    STORE_ENDPOINT_MAX =
        255, /* bytes of a host and its port, as processes that share a store tell each other */
    CONTAINER_RANGES_MAX =
        500, /* service: one for each 10,000 RU/s, up to 1,000,000 RU/s; the rest is for splits */
    RANGE_ANCESTORS_MAX =
        250, /* that a range names: clients who know only older ones read all ranges again */
    RANGE_CUT_BYTES_MAX = 256,    /* of an effective partition key at which a range is split */
    RANGE_THROUGHPUT_MAX = 10000, /* RU/s of one range; service: the same */
    RANGE_THROUGHPUT_NEW = 6000,  /* of fixed throughput, when a container is made; service: the same */
    RANGE_MB_MAX = 50 * 1024,     /* of items in one range; service: 50 GB a physical partition */

    /* Users, permissions, scripts and client encryption keys, of each below one parent; a body is as
       large as an item. Service: 100 procedures, 50 functions, 25 triggers a container unless one asks. */
    CATALOG_CHILDREN_MAX = 10000,
    CATALOG_CHILDREN_BYTES_MAX = 16 * 1024 * 1024, /* of all below one parent */

    /* Throughput, in RU/s. Service: fixed from 400 in steps of 100, autoscale from 1,000 in steps of 1,000. */
    THROUGHPUT_MIN = 400,
    THROUGHPUT_STEP = 100,
    AUTOSCALE_MIN = 1000,
    AUTOSCALE_STEP = 1000,
    THROUGHPUT_MAX = 1000 * 1000,
    SHARING_CONTAINERS_MAX = 25, /* of a database's; service: the same ("Azure Cosmos DB service quotas") */

    /* Feeds. Service: a page holds at most 4 MB; 100 items when the client names no number. */
    PAGE_BYTES_MAX = 4 * 1024 * 1024,
    PAGE_ITEMS_DEFAULT = 100,
    PAGE_ITEMS_MAX = 10000,

    /* Change feed. Service: the changes of a transaction come in one page; its transactions are no larger than this. */
    FEED_TRANSACTION_BYTES_MAX = 4 * PAGE_BYTES_MAX, /* more of one transaction is for the next page */

    /* Change log. Service: what the container's policy says, or as long as its continuous backup. */
    CHANGE_RETENTION_HOURS_DEFAULT = 24,

    /* Metrics. A series for each container would be too many where there are thousands. */
    METRIC_CONTAINERS_MAX = 100,

    /* Queries. Service: 512 KB of text, 10 joins, 10 UDFs ("Azure Cosmos DB service quotas", SQL query limits). */
    QUERY_BYTES_MAX = 512 * 1024,
    QUERY_DEPTH_MAX = 128, /* expressions and subqueries inside one another */
    QUERY_JOINS_MAX = 10,
    QUERY_UDFS_MAX = 10,
    QUERY_ORDER_MAX = 16,  /* items of ORDER BY; a composite index has 8 paths at most on the service */
    QUERY_GROUPS_MAX = 64, /* expressions of GROUP BY */
    /* Index metrics, a header. Service: 40 KB come whole, 70 KB are cut (.NET SDK, IndexUtilizationHeaderLengthTest). */
    INDEX_METRICS_BYTES_MAX = 48 * 1024,
    INDEX_METRICS_CUT_BYTES = 4988,
    CATALOG_QUERY_MAX = 10000, /* databases, or containers of one, to look at. Service: 500 in all */
    QUERY_SLOTS_MAX = 1024,    /* sources of a query and all its subqueries */

    /* Scripts. Service: 5 seconds ("Stored procedures, triggers, and user-defined functions", bounded execution); it
       accepts no more operations somewhat before. An answer as large as an item, a body of the request likewise. */
    SCRIPT_SECONDS_DEFAULT = 5,
    SCRIPT_MB_DEFAULT = 256,
    SCRIPT_CHILDREN_MAX = 16,
    SCRIPT_CHILDREN_KEPT_PART = 4, /* one in so many is not for a container that has all the others */
    SCRIPT_ACCEPT_PERCENT = 80,    /* of its time, after which nothing more is accepted */
    SCRIPT_OPERATIONS_MAX = 10000,
    SCRIPT_ANSWER_BYTES_MAX = 2 * 1024 * 1024,
    SCRIPT_LOG_BYTES_MAX = 8 * 1024, /* percent-encoded, in a header: clients take 16 KB of headers */

    /* HTTP. SDKs send session tokens and keys of tens of kilobytes in headers. */
    HTTP_HEAD_BYTES_MAX = 128 * 1024,
    HTTP_BODY_BYTES_MAX = 4 * 1024 * 1024,
    HTTP_SMALL_BODY_BYTES = 16 * 1024, /* that a request may send before anybody has looked at its key */
    HTTP_CONNECTIONS_MAX = 10000,
    HTTP_IDLE_MS = 300 * 1000,
    HTTP_PROGRESS_BYTES = 16 * 1024, /* to be sent, or taken of an answer, in half of the next */
    HTTP_REQUEST_MS = 30 * 1000,     /* from a request's first byte to its last */
    HTTP_DRAIN_MS = 4 * 1000,
    OTLP_BUFFER_BYTES = 1024 * 1024, /* of spans that wait for being sent; there are two */
    OTLP_TIMEOUT_MS = 2 * 1000,      /* of each step of sending them */
    OTLP_LINGER_S = 1,               /* when the server stops */
    HTTP_QUIET_MS =
        500, /* what a client says nothing for, before it loses a connection that it cannot be told to leave */

    /* HTTP/2. A connection may have so many requests at a time, and all connections together as many as there may be
       connections. A body comes as fast as its windows are opened; what it takes is counted as in HTTP/1.1. */
    HTTP2_STREAMS_MAX = 100,
    HTTP2_WINDOW_BYTES = 256 * 1024,   /* of one body */
    HTTP2_WINDOWS_BYTES = 1024 * 1024, /* of all bodies of a connection */
    HTTP2_FRAMES_SPARE_MAX = 2000, /* pings, resets and the like that a connection may send between answers */

    /* Memory that is set aside for when the machine has none: base/reserve.h. Enough for what all threads of the pool have
       under way, each with a few pieces of its arena, and for what RocksDB has. */
    RESERVE_PIECE_BYTES = 256 * 1024,
    RESERVE_PIECES = 64,

    /* Operations. */
    INLINE_ITEM_BYTES_MAX = 16 * 1024, /* a write with more, or of more, is no loop thread's */
    INLINE_QUERY_BYTES_MAX = 4 * 1024, /* likewise a query with a longer body */
    INLINE_QUERY_NODES_MAX = 128,      /* or with more expressions */
    INLINE_STEPS_MAX = 400,            /* of an operation (base/op.h), before a pool thread begins it anew */
    ROUND_STEPS_MAX = 4000,            /* of all, before a loop thread looks at its sockets again */
    OP_MEMORY_BYTES_MAX = 64 * 1024 * 1024,
    INDEX_ITEM_BYTES_MAX = 64 * 1024 * 1024, /* of terms, a million or so: an item with more is not indexed */
    INDEX_CHANGES_BYTES_MAX = 192 * 1024 * 1024, /* of entries that an operation changes: two such items' */
    MAP_ROWS_MAX = 10000,                        /* that a query may make of one item: POST /_orrery/map */
    HOLD_MS_MAX = 10 * 1000, /* writes wait for another container: SDKs come back for 30 s */
    HOLD_RETRY_MS = 20,
    UNCHANGED_MAX = 16, /* containers that a change of names is about beside the two */
    OP_TIMEOUT_MS = 30 * 1000,
    DIRECT_TIMEOUT_MS =
        4500, /* clients in Direct mode give up after 5 s, and a write's end is unknown to them then */
    POOL_THREADS_MAX = 128,
    POOL_QUEUE_MAX = 10000,
    POOL_SLOW_THREADS_PER_CORE = 4, /* queries and lists of items: more at a time delay all others */
    POOL_SLOW_THREADS_MIN = 12,     /* some wait for the disk, however few cores there are */
    POOL_SLOW_THREADS_MAX = 96,     /* three quarters of the pool, however many there are */
    POOL_SLOW_MS = 4,    /* of a processor's time, after which what a thread does gives way to all others */
    POOL_SLOW_NICE = 10, /* a tenth of what a loop gets of a core that both want */
    POOL_SLOW_QUEUE_MAX = 1000, /* beyond it they are answered 429 */
    POOL_WAITING_BYTES =
        32 * 1024, /* that a request takes while it waits: its head, and what it began with */
    POOL_WAITING_PART =
        4, /* and of what the account keeps for small requests, all such of a class have one part in so many */
    POOL_SCRIPT_THREADS_MAX =
        2 * SCRIPT_CHILDREN_MAX, /* scripts, and writes with triggers: half of them wait for a child */
    POOL_SCRIPT_QUEUE_MAX = 1000,
    POOL_KEPT_PART = 4, /* of both, one in so many is not for a container that has all the others */
    POOL_THREADS_KEPT = 2,
    POOL_IDLE_MS = 10 * 1000,

    /* Authentication. Service: a date more than 15 minutes off is refused. */
    DATE_SKEW_MS = 15 * 60 * 1000,

    /* Resource tokens. Service: an hour, or 10 seconds to 24 hours (.NET reference, User.CreatePermissionAsync). */
    TOKEN_SECONDS_MIN = 10,
    TOKEN_SECONDS_DEFAULT = 3600,
    TOKEN_SECONDS_MAX = 24 * 3600,
};
