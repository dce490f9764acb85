/*
 * src/json/binary_format.h - the markers of binary JSON, which SDKs call CosmosBinary.
 * A body is 0x80 and one value; a value is a marker and what belongs to it. Integers, lengths and offsets are
 * little-endian. Forms that have several widths are numbered one after another, the narrowest first.
 * Only the reader and the writer include this.
 */
#pragma once
#include "base/slice.h"

enum binary_marker {
    BINARY_INT = 0x00,    /* and the number itself, up to 0x1f */
    BINARY_SYSTEM = 0x20, /* and the number of a system string, up to 0x3f */
    BINARY_USER = 0x40,   /* up to 0x67: a dictionary has it, which nobody sends */
    BINARY_UNASSIGNED = 0x68,
    BINARY_BASE64_1 = 0x71,
    BINARY_BASE64_2,
    BINARY_BASE64URL_1,
    BINARY_BASE64URL_2,
    BINARY_GUID_LOWER = 0x75,
    BINARY_GUID_UPPER,
    BINARY_GUID_QUOTED,
    BINARY_HEX_LOWER = 0x78,
    BINARY_HEX_UPPER,
    BINARY_DATE,
    BINARY_PACKED_4 = 0x7b,
    BINARY_PACKED_5,
    BINARY_PACKED_6,
    BINARY_PACKED_7_1,
    BINARY_PACKED_7_2,
    BINARY_SHORT_STRING = 0x80, /* and the size, up to 0xbf */
    BINARY_STRING_1 = 0xc0,
    BINARY_STRING_2,
    BINARY_STRING_4,
    BINARY_REFERENCE_1 = 0xc3, /* to a string that stands before it, by its place in the whole */
    BINARY_REFERENCE_2,
    BINARY_REFERENCE_3,
    BINARY_REFERENCE_4,
    BINARY_U64 = 0xc7, /* up to here, and the integers above, plain numbers */
    BINARY_U8,
    BINARY_I16,
    BINARY_I32,
    BINARY_I64,
    BINARY_DOUBLE,
    BINARY_FLOAT32 = 0xcd, /* numbers of other users of the format; as JSON the same numbers */
    BINARY_FLOAT64,
    BINARY_NULL = 0xd0,
    BINARY_FALSE,
    BINARY_TRUE,
    BINARY_GUID_VALUE = 0xd3,
    BINARY_ITEM_U8 = 0xd7, /* of a uniform array, and nothing by itself */
    BINARY_VALUE_I8,
    BINARY_VALUE_I16,
    BINARY_VALUE_I32,
    BINARY_VALUE_I64,
    BINARY_VALUE_U32,
    BINARY_BYTES_1 = 0xdd,
    BINARY_BYTES_2,
    BINARY_BYTES_4,
    BINARY_ARRAY = 0xe0,  /* and a shape, up to 0xe7 */
    BINARY_OBJECT = 0xe8, /* and a shape, up to 0xef */
    BINARY_UNIFORM_1 = 0xf0,
    BINARY_UNIFORM_2,
    BINARY_UNIFORM_ROWS_1,
    BINARY_UNIFORM_ROWS_2,
};

/* How a container says where it ends: the low three bits of its marker. */
enum binary_shape {
    SHAPE_EMPTY,
    SHAPE_ONE,      /* one element or one member follows */
    SHAPE_LENGTH_1, /* the length of what follows */
    SHAPE_LENGTH_2,
    SHAPE_LENGTH_4,
    SHAPE_COUNT_1, /* a length and a count, both of this width */
    SHAPE_COUNT_2,
    SHAPE_COUNT_4,
};

enum { BINARY_FIRST_BYTE = 0x80, SYSTEM_STRINGS = 32, SYSTEM_STRING_BYTES_MAX = 18 };

/* The strings that the format knows by number. The list is full. */
extern const struct slice binary_system_strings[SYSTEM_STRINGS];
