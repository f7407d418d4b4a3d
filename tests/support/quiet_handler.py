"""The part that handlers of small HTTP servers in tests have in common."""

from http.server import BaseHTTPRequestHandler
from typing import Any


class QuietHandler(BaseHTTPRequestHandler):
    """Answers with a whole body, and writes no log."""

    def answer(self, status: int, data: bytes) -> None:
        """Send an answer."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        return
