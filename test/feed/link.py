"""test/feed/link.py - requests to a server that dies and comes back under another address."""
import http.client
import json
import threading

import client
from server import KEY

PATIENCE_SECONDS = 60


class Unknown(Exception):
    """The connection ended before the answer came: what was asked for may have been done."""


class Stopped(Exception):
    """The run is over."""


class Place:
    """Where the server is now."""

    def __init__(self):
        self.changed, self.url, self.stopping = threading.Condition(), None, False

    def move(self, url):
        """None: it is down."""
        with self.changed:
            self.url = url
            self.changed.notify_all()

    def stop(self):
        with self.changed:
            self.stopping = True
            self.changed.notify_all()

    def wait(self):
        with self.changed:
            if not self.changed.wait_for(lambda: self.url or self.stopping, PATIENCE_SECONDS):
                raise RuntimeError("the server did not come back")
            if not self.url:
                raise Stopped()
            return self.url


class Link:
    """One thread's way to the server."""

    def __init__(self, place):
        self.place, self.url, self.signed = place, None, None

    def ask_once(self, method, target, headers=(), body=None):
        url = self.place.wait()
        if url != self.url:
            self.url, self.signed = url, client.Signed(url, KEY)
        try:
            date = client.date_of()
            token = client.authorization(KEY, method, *client.resource_of(target), (date, ""))
            signed = [("authorization", client.encoded(token)), ("x-ms-date", date), ("x-ms-version", client.VERSION), *headers]
            text = None if body is None else json.dumps(body).encode()
            status, _, answered, content = self.signed.send_once(method, target, signed, text)  # never sent twice
        except (OSError, http.client.HTTPException) as problem:
            self.signed.close()
            self.signed = self.url = None
            raise Unknown(str(problem)) from None
        if status in (429, 449, 503):
            return self.ask_once(method, target, headers, body)  # it was not done
        return status, {name.lower(): value for name, value in answered}, json.loads(content) if content else None

    def ask(self, method, target, headers=(), body=None):
        """What may be asked again."""
        while True:
            try:
                return self.ask_once(method, target, headers, body)
            except Unknown:
                continue
