"""test/wire/client.py - sends a request as a client would: signed with the account key."""
import base64
import email.utils
import hashlib
import hmac
import http.client
import json
import re
import ssl
import time
import urllib.parse

import binary_json

VERSION = "2020-07-15"


def date_of(offset_s=0):
    return email.utils.formatdate(time.time() + offset_s, usegmt=True)


def resource_of(target):
    """What a client signs for a path: the type, and the link of the resource or of its parent."""
    path = target
    for known in ("?$resolveFor", "?$filter"):
        path = path.split(known)[0]
    parts = [urllib.parse.unquote(part) for part in path.strip("/").split("/")] if path.strip("/") else []
    if parts[:1] == ["operations"]:
        return "distributedtransactionbatch", ""
    if parts[:1] == ["_orrery"]:
        return parts[0], "/".join(parts)
    if parts[-2:-1] == ["operations"]:  # on a container
        parts = parts[:-2]
    if len(parts) % 2 == 1:
        return parts[-1], "/".join(parts[:-1])
    if not parts:
        return "", ""
    return parts[-2], "/".join(parts)


def signature(key, verb, kind, link, dates):
    """dates: what x-ms-date and Date say, the one that is not sent being empty."""
    text = "\n".join([verb.lower(), kind.lower(), link, dates[0].lower(), dates[1].lower(), ""])
    digest = hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def authorization(key, verb, kind, link, dates):
    return "type=master&ver=1.0&sig=" + signature(key, verb, kind, link, dates)


def encoded(token):
    return urllib.parse.quote(token, safe="")


def encoded_in_lower_case(token):
    """As .NET does: %3d, where others write %3D."""
    return re.sub("%[0-9A-F]{2}", lambda match: match.group(0).lower(), encoded(token))


class Client:
    """One connection, kept alive; a closed one is opened again."""

    def __init__(self, url):
        place = urllib.parse.urlsplit(url)
        self.address = (place.hostname, place.port)
        self.connection = None

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def send(self, method, target, headers, body):
        """headers: (name, value) pairs; a Host among them replaces our own."""
        try:
            return self.send_once(method, target, headers, body)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self.close()
            return self.send_once(method, target, headers, body)

    def send_once(self, method, target, headers, body):
        if not self.connection:
            self.connection = http.client.HTTPConnection(*self.address, timeout=120)
        names = {name.lower() for name, _ in headers}
        self.connection.putrequest(method, target, skip_host="host" in names, skip_accept_encoding=True)
        for name, value in headers:
            self.connection.putheader(name, value.encode("utf-8"))
        if (body is not None or method in ("POST", "PUT", "PATCH")) and "transfer-encoding" not in names:
            self.connection.putheader("Content-Length", str(len(body or b"")))
        self.connection.endheaders(body)
        response = self.connection.getresponse()
        content = response.read()
        answer = (response.status, response.reason, response.getheaders(), content)
        if response.will_close:
            self.close()
        return answer


class Signed(Client):
    """A client that signs, and also speaks https without asking who answers."""

    def __init__(self, url, key):
        super().__init__(url)
        self.key, self.secure = key, urllib.parse.urlsplit(url).scheme == "https"

    def send_once(self, method, target, headers, body):
        if self.secure and not self.connection:
            context = ssl._create_unverified_context()
            self.connection = http.client.HTTPSConnection(*self.address, timeout=120, context=context)
        return super().send_once(method, target, headers, body)

    def ask(self, method, target, headers, body=None, binary=False):
        """(status, headers by their names in lower case, text). `binary`: asked for as binary JSON, which must come; the
        text is what it stands for."""
        date = date_of()
        token = authorization(self.key, method, *resource_of(target), (date, ""))
        signed = [("authorization", encoded(token)), ("x-ms-date", date), ("x-ms-version", VERSION)]
        text = None if body is None else json.dumps(body).encode()
        wanted = [binary_json.FORMATS] if binary else []
        status, _, answered, content = self.send(method, target, signed + headers + wanted, text)
        if binary and status < 300:
            content = json.dumps(binary_json.loads(content)).encode()
        return status, {name.lower(): value for name, value in answered}, content.decode("utf-8", "replace")
