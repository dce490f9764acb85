/*
 * src/store/rocksdb_crc.c - RocksDB's checksums by the processor.
 * Debian builds RocksDB for processors that have no instruction for CRC-32C, so it computes the checksum of every record of its log
 * from tables. Where RocksDB is linked into the program, the linker has its calls of crc32c::Extend() come here (--wrap in
 * CMakeLists.txt); elsewhere it goes on as before, and the bytes are the same.
 */
#include "base/hash.h"

/* The name of rocksdb::crc32c::Extend(uint32_t, const char *, size_t), as the linker wraps it. */
uint32_t __wrap__ZN7rocksdb6crc32c6ExtendEjPKcm(uint32_t crc, const char *data, size_t size);

uint32_t __wrap__ZN7rocksdb6crc32c6ExtendEjPKcm(uint32_t crc, const char *data, size_t size)
{
    return crc32c(crc, data, size);
}
