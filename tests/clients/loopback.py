"""What the upstreams of these tests are: a server on the loopback, each connection in a thread. Only the standard library."""

import http.server
import socketserver
import threading


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 64


class Handler(http.server.BaseHTTPRequestHandler):
    """Says nothing, whoever hangs up; `mock` is what serves."""

    protocol_version = "HTTP/1.1"
    mock: "Served"

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except ConnectionError:
            pass

    def take(self):
        """The body."""
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return body


class Served:
    """The server, on a free port unless it has one; a context manager."""

    port = 0
    handler: type = Handler

    def __enter__(self):
        self.server = Server(("127.0.0.1", self.port), type("Bound", (self.handler,), {"mock": self}))
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.port
