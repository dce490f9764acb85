"""test/client/languages/first.py - a first program in Python, by ctypes: first.py LIBRARY ENDPOINT KEY"""
import ctypes
import sys

TEXT = ctypes.c_size_t(-1)


class Settings(ctypes.Structure):
    """The first members of orrery_settings: a program that knows fewer is served all the same."""
    _fields_ = [("size", ctypes.c_size_t), ("endpoint", ctypes.c_char_p), ("key", ctypes.c_char_p)]


def main(path, endpoint, key):
    library = ctypes.CDLL(path)
    library.orrery_error.restype = library.orrery_open_error.restype = library.orrery_query_row.restype = ctypes.c_char_p
    settings = Settings(ctypes.sizeof(Settings), endpoint.encode(), key.encode())
    client, query = ctypes.c_void_p(), ctypes.c_void_p()

    def must(status):
        if status > 0:
            sys.exit(library.orrery_error(client).decode())

    if library.orrery_open(ctypes.byref(settings), ctypes.byref(client)) != 0:
        sys.exit(library.orrery_open_error(ctypes.byref(settings)).decode())
    must(library.orrery_create_if_missing(client, b"dbs", b'{"id":"languages"}', TEXT, None, None))
    must(library.orrery_create(client, b"dbs/languages/colls",
                               b'{"id":"python","partitionKey":{"paths":["/city"],"kind":"Hash"}}', TEXT, None, None))
    must(library.orrery_item_create(client, b"dbs/languages/colls/python", b'{"id":"1","city":"Lyon"}', TEXT, None, None, None))
    must(library.orrery_query_open(client, b"dbs/languages/colls/python", b"SELECT c.id, c.city FROM c", None, ctypes.c_size_t(0),
                                   None, None, ctypes.byref(query)))
    must(library.orrery_query_step(query))
    print(library.orrery_query_row(query, None).decode())
    library.orrery_query_close(query)
    library.orrery_close(client)


if __name__ == "__main__":
    main(*sys.argv[1:])
