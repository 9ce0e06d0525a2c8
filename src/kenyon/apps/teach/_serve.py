"""The page on this machine's own address, where browsers give it the camera and the sensors."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, HTTPServer

from kenyon.errors import ConfigError


def make_server(page: str, port: int = 0) -> HTTPServer:
    """A server of one page on the loopback address; a port of 0 takes one that is free.

    Example:
        >>> server = make_server("<!doctype html>")
        >>> server.server_address[0]
        '127.0.0.1'
        >>> server.server_close()
    """
    content = page.encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path in ("/", "/index.html")
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content) if found else 0))
            self.end_headers()
            if found:
                self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Requests are not listed."""

    try:
        return HTTPServer(("127.0.0.1", port), Handler)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"port {port} cannot be had ({error}): expected a free one, or 0 for any") from error
