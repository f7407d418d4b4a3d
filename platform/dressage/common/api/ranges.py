"""Downloads in parts (RFC 9110, section 14), so that an interrupted download can resume."""

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from dressage.common.api.problems import Problem

CHUNK = 1 << 20
_ONE_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


def download(
    request: HttpRequest,
    read: Callable[[int, int], Iterator[bytes]],
    *,
    size: int,
    etag: str,
    content_type: str,
    filename: str = "",
    close: Callable[[], None] = lambda: None,
) -> HttpResponseBase:
    """The response to a GET or HEAD for ``size`` bytes, or for the part of them that is requested.

    Args:
        request: its Range is followed unless its If-Range names other bytes than the current ones.
        read: ``read(start, end)`` yields the bytes from ``start`` up to, but not including, ``end``.
        size: total number of bytes.
        etag: unquoted name that is unique to these bytes.
        content_type: media type of the whole.
        filename: name under which a browser saves it.
        close: called after the last read.

    Raises:
        Problem: 416 for a part that starts after the end.
    """
    tag = f'"{etag}"'
    fresh = request.headers.get("If-Range", tag) == tag
    part = None
    try:
        if request.method == "GET" and fresh:
            part = wanted(request.headers.get("Range", ""), size)
    except Problem:
        close()
        raise
    start, end = part or (0, size)
    headers = {"Accept-Ranges": "bytes", "ETag": tag, "Content-Length": str(end - start)}
    if part:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    if filename:
        headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    if request.method == "HEAD":
        close()
        return HttpResponse(headers=headers, content_type=content_type)
    status = 206 if part else 200
    response = StreamingHttpResponse(read(start, end), status=status, headers=headers, content_type=content_type)
    response._resource_closers.append(close)  # type: ignore[attr-defined]
    return response


def read_part(file: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    """The bytes of ``file`` from ``start`` up to, but not including, ``end``. Raises OSError for a shorter file."""
    file.seek(start)
    while start < end:
        chunk = file.read(min(CHUNK, end - start))
        if not chunk:
            raise OSError("a file has become shorter while it was sent")
        start += len(chunk)
        yield chunk


def wanted(header: str, size: int) -> tuple[int, int] | None:
    """Half-open byte range that ``header`` requests; None for the whole.

    A header that requests several parts, or that cannot be parsed, gets the whole, as the standard allows.

    Raises:
        Problem: 416 for a part that starts after the end.
    """
    match = _ONE_RANGE.fullmatch(header.strip())
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:  # the last N bytes
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(size, int(last) + 1 if last else size)
        if last and int(last) < start:
            return None
    if start >= size or start >= end:
        headers = {"Content-Range": f"bytes */{size}"}
        raise Problem(416, "Range not satisfiable", f"The file has {size} bytes.", headers=headers)
    return start, end
