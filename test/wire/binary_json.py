"""test/wire/binary_json.py - reads and writes binary JSON: beside the server's own, and shorter than it.

Markers are those of src/json/binary_format.h. What is written is plain: no references, nothing packed. Not read is what no
server sends: dictionaries, packed text, base64, uniform arrays, kinds of number that only other users of the format have.
"""
import struct

FIRST_BYTE = 0x80
FORMATS = ("x-ms-cosmos-supported-serialization-formats", "JsonText,CosmosBinary")
SYSTEM = ("$s $t $v _attachments _etag _rid _self _ts attachments/ coordinates geometry GeometryCollection id url Value "
          "label LineString link MultiLineString MultiPoint MultiPolygon name Name Type Point Polygon properties type value "
          "Feature FeatureCollection _id").split()
NUMBERS = {0xC8: "<B", 0xC9: "<h", 0xCA: "<i", 0xCB: "<q", 0xCC: "<d"}
WORDS = {0xD0: None, 0xD1: False, 0xD2: True}
WIDTHS = [0, 0, 1, 2, 4, 1, 2, 4]  # of a container's length, by its shape


class BadBinary(ValueError):
    """The bytes are no value, or one that a server does not send."""


def is_binary(data):
    return data[:1] == bytes([FIRST_BYTE])


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 1

    def take(self, size):
        if self.at + size > len(self.data):
            raise BadBinary("it ends before byte %d" % (self.at + size))
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def string(self, marker):
        if 0x20 <= marker < 0x40:
            return SYSTEM[marker - 0x20]
        if 0x80 <= marker < 0xC0:
            return self.take(marker - 0x80).decode()
        if 0xC0 <= marker <= 0xC2:
            return self.take(self.number(1 << (marker - 0xC0))).decode()
        if 0xC3 <= marker <= 0xC6:
            return self.reference(self.number(marker - 0xC2))
        raise BadBinary("marker %02x at byte %d is no string's" % (marker, self.at - 1))

    def reference(self, place):
        here = self.at
        if not 0 < place < here or 0xC3 <= self.data[place] <= 0xC6:
            raise BadBinary("a reference to byte %d" % place)
        self.at = place + 1
        text = self.string(self.data[place])
        self.at = here
        return text

    def members(self, marker):
        """What is in a container, one call of the caller's for each."""
        shape = marker & 7
        width = WIDTHS[shape]
        length = self.number(width)
        count = self.number(width) if shape >= 5 else None
        if shape < 2:
            yield from range(shape)
            return
        end, found = self.at + length, 0
        while self.at < end:
            yield found
            found += 1
        if self.at != end or count not in (None, found):
            raise BadBinary("a container that ends at byte %d ends at %d, with %d of %s" % (end, self.at, found, count))

    def value(self):
        marker = self.number(1)
        if marker < 0x20:
            return marker
        if marker in NUMBERS:
            return struct.unpack(NUMBERS[marker], self.take(struct.calcsize(NUMBERS[marker])))[0]
        if marker in WORDS:
            return WORDS[marker]
        if 0xE0 <= marker < 0xE8:
            return [self.value() for _ in self.members(marker)]
        if 0xE8 <= marker < 0xF0:
            return {self.string(self.number(1)): self.value() for _ in self.members(marker)}
        return self.string(marker)


def string_bytes(text):
    data = text.encode()
    return (bytes([0x80 + len(data)]) if len(data) < 64 else b"\xC2" + struct.pack("<I", len(data))) + data


def value_bytes(value):
    for marker, word in WORDS.items():
        if value is word:
            return bytes([marker])
    if isinstance(value, str):
        return string_bytes(value)
    if isinstance(value, int) and -2**63 <= value < 2**63:
        return b"\xCB" + struct.pack("<q", value)
    if isinstance(value, (int, float)):
        return b"\xCC" + struct.pack("<d", value)
    if isinstance(value, list):
        inside = b"".join(map(value_bytes, value))
        return b"\xE4" + struct.pack("<I", len(inside)) + inside
    inside = b"".join(string_bytes(name) + value_bytes(member) for name, member in value.items())
    return b"\xEC" + struct.pack("<I", len(inside)) + inside


def dumps(value):
    return bytes([FIRST_BYTE]) + value_bytes(value)


def loads(data):
    if not is_binary(data):
        raise BadBinary("the first byte is not 80")
    reader = Reader(data)
    value = reader.value()
    if reader.at != len(data):
        raise BadBinary("%d bytes behind the value" % (len(data) - reader.at))
    return value
