"""Where a request ends: a proxy in front and the web server behind it must not take two different places for it."""

import socket

import pytest

from tests.platform.gateway.served import served

pytestmark = pytest.mark.django_db(transaction=True)
SMUGGLED = b"GET /api/v1/smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.mark.parametrize(
    "lengths",
    [
        "Content-Length: 5\r\nContent-Length: 40",
        "Content-Length: 5, 40",
        "Content-Length: +5",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: xchunked",
        "Content-Length: 5\r\nTransfer-Encoding: xchunked",
        "Transfer-Encoding : chunked",
    ],
)
def test_a_message_with_two_ends_is_refused(lengths: str) -> None:
    head = f"POST /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\n{lengths}\r\n\r\n"
    with served() as port, socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(head.encode() + b"0\r\n\r\n" + SMUGGLED)
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert answer.startswith(b"HTTP/1.1 400"), answer[:200]
    assert answer.count(b"HTTP/1.1") == 1 and b"smuggled" not in answer
