"""Messages between the owner of a grading process and the process: a length of four bytes, then the bytes."""

import socket
import struct

LOADED = b"loaded"
"""What the process tells before its answer, once all is loaded that the grader needs: the limits count from here."""
_LENGTH = struct.Struct("!I")


def send(channel: socket.socket, message: bytes) -> None:
    """Send a whole message. Raises OSError where nobody receives it any more."""
    channel.sendall(_LENGTH.pack(len(message)) + message)


def receive(channel: socket.socket) -> bytes | None:
    """The next message, or None where the other side has ended. Raises OSError."""
    head = _exactly(channel, _LENGTH.size)
    return None if head is None else _exactly(channel, _LENGTH.unpack(head)[0])


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        part = channel.recv(min(size - len(parts), 1 << 20))
        if not part:
            return None
        parts += part
    return bytes(parts)
