"""The mail server: how its URL is read, and a letter that really travels."""

import socketserver
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from threading import Thread
from typing import Any

import pytest
from django.test import TestCase

from dressage.common.actors import Actor
from dressage.common.roles import Role
from dressage.email_url import MailServer, parse_email_url
from dressage.teams.invitations.services import invite
from dressage.teams.models import Team


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtps://a%40b:p%3Aq@mail.example.com", MailServer("mail.example.com", 465, "a@b", "p:q", True, False)),
        ("smtp://mail.example.com", MailServer("mail.example.com", 587, "", "", False, True)),
        ("smtp://u:p@10.0.0.7:2525", MailServer("10.0.0.7", 2525, "u", "p", False, True)),
        ("smtp://127.0.0.1:25", MailServer("127.0.0.1", 25, "", "", False, False)),
    ],
)
def test_a_url_says_how_a_server_is_spoken_to(url: str, expected: MailServer) -> None:
    assert parse_email_url(url) == expected


@pytest.mark.parametrize(
    "url",
    ["mail.example.com", "http://mail.example.com", "smtp://", "smtp://h/path", "smtp://h?tls=no", "smtp://h:99999"],
)
def test_anything_else_is_refused(url: str) -> None:
    with pytest.raises(ValueError):
        parse_email_url(url)


class _Conversation(socketserver.StreamRequestHandler):
    """As much of RFC 5321 as a sender needs."""

    def handle(self) -> None:
        server: Any = self.server
        self._say("220 here")
        while line := self.rfile.readline().strip():
            word = line.upper()
            if word == b"DATA":
                self._say("354 go on")
                letter = b"".join(iter(self.rfile.readline, b".\r\n"))
                server.letters.append(message_from_bytes(letter))
            self._say("221 bye" if word == b"QUIT" else "250 fine")
            if word == b"QUIT":
                return

    def _say(self, text: str) -> None:
        self.wfile.write(text.encode() + b"\r\n")


@pytest.fixture
def letters(settings: Any) -> Iterator[list[Message]]:
    """What a mail server on loopback has taken."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Conversation) as server:
        server.letters = []  # type: ignore[attr-defined]
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address
        settings.EMAIL_IS_SET_UP = True
        yield server.letters  # type: ignore[attr-defined]
        server.shutdown()
        thread.join()


def test_an_invitation_travels(letters: list[Message], team: Team, make_user: Any, settings: Any) -> None:
    admin = make_user("admin")
    Team.objects.update(name="Two\nlines")
    team.refresh_from_db()
    with TestCase.captureOnCommitCallbacks(execute=True):
        _, link = invite(team, Actor("user", admin.id, admin.email), email="mia@example.com", role=Role.EDITOR)
    assert link is None
    [letter] = letters
    assert (letter["To"], letter["From"]) == ("mia@example.com", settings.DEFAULT_FROM_EMAIL)
    assert letter["Subject"] == "Join Two lines on Dressage"
    body = letter.get_payload(decode=True).decode()
    assert f"{settings.PUBLIC_URL}/invitations/" in body
    assert "to the team Two lines on Dressage, as editor." in body
