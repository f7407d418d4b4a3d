"""Compression of responses, only when it cannot leak a secret.

An attacker who makes a browser request a page that echoes chosen text, and sees the length of the response, can guess a
secret in the same response (BREACH). So only reads are compressed: never the response to a write, nor one that holds a
secret or sets a cookie. The length is also blurred, as Django does it.
"""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

SECRET = ("/api/v1/session", "/api/v1/account", "/api/v1/link/")
"""Paths whose responses may hold a secret, of the session or of an attempt."""
SMALLEST = 1400
"""Bytes of a response below which it fits into one packet anyway."""
_TYPES = ("application/json", "application/vnd.oai.openapi", "text/html", "text/csv", "application/x-ndjson")


class CompressionMiddleware(GZipMiddleware):
    """Compresses documents of the API. The console's files are compressed at build time."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress the response if this is safe and the browser accepts it."""
        return super().process_response(request, response) if may_compress(request, response) else response


def may_compress(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Whether the length of this response may depend on its content."""
    return (
        request.method == "GET"
        and response.status_code == 200
        and not response.streaming
        and not response.cookies
        and not request.path.startswith(SECRET)
        and response.get("Content-Type", "").startswith(_TYPES)
        and len(response.content) >= SMALLEST  # type: ignore[attr-defined]
    )
