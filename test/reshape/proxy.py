"""test/reshape/proxy.py - stands between a command and its servers, and calls back before and after each of its requests.

Of several servers each gets a request in turn."""
import http.client
import http.server
import itertools
import threading
import urllib.parse

HOP = {"connection", "content-length", "transfer-encoding", "keep-alive"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.server.turn:  # one request at a time, as the command sends them
            self.server.before(self.command, self.path)
            connection = http.client.HTTPConnection(*next(self.server.targets), timeout=60)
            connection.request(self.command, self.path, body, {name: value for name, value in self.headers.items() if name.lower() not in HOP})
            answer = connection.getresponse()
            content = answer.read()
            connection.close()
            self.server.after(self.command, self.path)
        try:
            self.send_response_only(answer.status, answer.reason)
            for name, value in answer.getheaders():
                if name.lower() not in HOP:
                    self.send_header(name, value)
            if answer.status not in (204, 304):
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if answer.status not in (204, 304):
                self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the command was ended

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = forward

    def log_message(self, *_):
        pass


class Proxy(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, urls, before, after):
        super().__init__(("127.0.0.1", 0), Handler)
        places = [urllib.parse.urlsplit(url) for url in urls]
        self.targets = itertools.cycle([(place.hostname, place.port) for place in places])
        self.before, self.after = before, after
        self.turn = threading.Lock()
        self.url = "http://127.0.0.1:%d" % self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()
