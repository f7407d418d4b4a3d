"""Compression of answers, where it cannot betray a secret.

Who makes a browser ask for a page that repeats words of the asker's choice, and sees how long the answer is, can guess
a secret that stands in the same answer (BREACH). So only what is read is compressed, never what a write answers, nor
what holds a secret or comes with a cookie. The length is blurred too, as Django does it.
"""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

SECRET = ("/api/v1/session", "/api/v1/account", "/api/v1/link/")
"""Addresses whose answers may hold a secret: of the session, or of an attempt."""
SMALLEST = 1400
"""Bytes of an answer below which it fits into one packet anyway."""
_TYPES = ("application/json", "application/vnd.oai.openapi", "text/html", "text/csv", "application/x-ndjson")


class CompressionMiddleware(GZipMiddleware):
    """Compresses documents of the API. The console's files are compressed when it is built."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress the answer if it may be and the browser can read it."""
        return super().process_response(request, response) if may_compress(request, response) else response


def may_compress(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Whether the length of this answer may depend on what stands in it."""
    return (
        request.method == "GET"
        and response.status_code == 200
        and not response.streaming
        and not response.cookies
        and not request.path.startswith(SECRET)
        and response.get("Content-Type", "").startswith(_TYPES)
        and len(response.content) >= SMALLEST  # type: ignore[attr-defined]
    )
