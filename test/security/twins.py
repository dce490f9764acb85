"""Texts that have the MurmurHash3 of another: anybody can compute them, because the hash and its seed are public.

    test/security/twins.py alice@example.com     a partition key with the same effective partition key (V2)
    test/security/twins.py --name price          a member's name with the same hash

The hash can be run backwards. After any first block of 16 bytes there is just one second block that leads to the
wanted end, and one in some ten thousand of those is plain text.
"""
import random
import struct
import sys

MASK = (1 << 64) - 1
C1, C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
N1, N2 = 0x52DCE729, 0x38495AB5
MIX1, MIX2 = 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53


def rotl(x, r):
    return (x << r | x >> (64 - r)) & MASK


def inverse(odd):
    return pow(odd, -1, 1 << 64)


INV = {n: inverse(n) for n in (C1, C2, 5, MIX1, MIX2)}


def fmix(k):
    k = (k ^ k >> 33) * MIX1 & MASK
    k = (k ^ k >> 33) * MIX2 & MASK
    return k ^ k >> 33


def unfmix(k):
    k = (k ^ k >> 33) * INV[MIX2] & MASK
    k = (k ^ k >> 33) * INV[MIX1] & MASK
    return k ^ k >> 33


def mix1(k):
    return rotl(k * C1 & MASK, 31) * C2 & MASK


def mix2(k):
    return rotl(k * C2 & MASK, 33) * C1 & MASK


def unmix1(k):
    return rotl(k * INV[C2] & MASK, 33) * INV[C1] & MASK


def unmix2(k):
    return rotl(k * INV[C1] & MASK, 31) * INV[C2] & MASK


def step(h1, h2, block):
    k1, k2 = struct.unpack("<QQ", block)
    h1 = (rotl(h1 ^ mix1(k1), 27) + h2) * 5 + N1 & MASK
    h2 = (rotl(h2 ^ mix2(k2), 31) + h1) * 5 + N2 & MASK
    return h1, h2


def tail_words(tail):
    padded = tail.ljust(16, b"\0")
    k1, k2 = struct.unpack("<QQ", padded)
    return mix1(k1) if tail else 0, mix2(k2) if len(tail) > 8 else 0


def murmur3_128(data):
    h1 = h2 = 0
    whole = len(data) // 16 * 16
    for at in range(0, whole, 16):
        h1, h2 = step(h1, h2, data[at:at + 16])
    t1, t2 = tail_words(data[whole:])
    h1, h2 = h1 ^ t1 ^ len(data), h2 ^ t2 ^ len(data)
    h1 = h1 + h2 & MASK
    h2 = h2 + h1 & MASK
    h1, h2 = fmix(h1), fmix(h2)
    h1 = h1 + h2 & MASK
    return h1, h2 + h1 & MASK


def before_the_end(h1, h2, size, tail):
    """The state after the last whole block of a text of that size which ends in `tail`."""
    h2 = h2 - h1 & MASK
    h1 = h1 - h2 & MASK
    h1, h2 = unfmix(h1), unfmix(h2)
    h2 = h2 - h1 & MASK
    h1 = h1 - h2 & MASK
    t1, t2 = tail_words(tail)
    return h1 ^ size ^ t1, h2 ^ size ^ t2


def block_between(h1, h2, end1, end2):
    """The block that leads from one state to the other."""
    x = rotl(((end1 - N1) * INV[5] - h2) & MASK, 37) ^ h1
    y = rotl(((end2 - N2) * INV[5] - end1) & MASK, 33) ^ h2
    return struct.pack("<QQ", unmix1(x), unmix2(y))


PLAIN = frozenset(range(0x20, 0x7F)) - frozenset(b"\"'\\/")


def twin(wanted, head, tail, seed=1):
    """A text t with murmur3_128(head + t + tail) one of `wanted`."""
    chance = random.Random(seed)
    size = 32 + len(tail)
    ends = [before_the_end(h1, h2, size, tail) for h1, h2 in wanted]
    letters = b"abcdefghijklmnopqrstuvwxyz0123456789"
    while True:
        first = head + bytes(chance.choice(letters) for _ in range(16 - len(head)))
        at = step(0, 0, first)
        for end in ends:
            second = block_between(*at, *end)
            if PLAIN.issuperset(second):
                assert murmur3_128(first + second + tail) in wanted
                return (first + second)[len(head):].decode()


def key_twin(key, seed=1):
    """A partition key with the effective partition key of `key`, which leaves out the two highest bits."""
    h1, h2 = murmur3_128(b"\x08" + key.encode() + b"\xff")
    return twin([(h1, h2 & MASK >> 2 | top << 62) for top in range(4)], b"\x08", b"\xff", seed)


def name_twin(name, seed=1):
    return twin([murmur3_128(name.encode())], b"", b"", seed)


if __name__ == "__main__":
    print(name_twin(sys.argv[2]) if sys.argv[1] == "--name" else key_twin(sys.argv[1]))
