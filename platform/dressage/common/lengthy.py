"""Slots for long requests: only a few may keep a thread of the process for minutes, so that the others stay free."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from dressage.common.api.problems import Problem


class LongRequests:
    """Slots of this process for one kind of long request. If none is free, a request is refused immediately."""

    def __init__(
        self, what: str, *, places: int, per_team: int | None = None, code: str, team_code: str = "", retry_s: int
    ) -> None:
        """
        Args:
            what: the requests as a plural, such as "uploads", for the messages.
            places: maximum at the same time.
            per_team: maximum per team at the same time; None for as many as ``places``.
            code: code of the 503 problem if all slots are taken.
            team_code: code of the 429 problem if the team has used its share.
            retry_s: seconds after which clients should try again.
        """
        self.places, self.per_team = places, per_team or places
        self._what, self._code, self._team_code, self._retry_s = what, code, team_code, retry_s
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()

    @contextmanager
    def place(self, team_id: str) -> Iterator[None]:
        """A slot for one request of a team. Releases the thread's database connection first.

        In a transaction, as with an Idempotency-Key, the connection is kept; then the slots limit the connections.

        Raises:
            Problem: 429 if the team has used its share, 503 if all slots are taken.
        """
        self._enter(team_id)
        try:
            if not connection.in_atomic_block:
                connection.close()
            yield
        finally:
            self._leave(team_id)

    def _enter(self, team_id: str) -> None:
        with self._lock:
            if self._taken.total() >= self.places:
                raise self._refusal(503, "Service unavailable", f"{self.places} {self._what}", self._code)
            if self._taken[team_id] >= self.per_team:
                detail = f"{self.per_team} {self._what} of your team"
                raise self._refusal(429, "Too many requests", detail, self._team_code)
            self._taken[team_id] += 1

    def _leave(self, team_id: str) -> None:
        with self._lock:
            self._taken[team_id] -= 1
            self._taken += Counter()  # drops the teams that have no slot

    def _refusal(self, status: int, title: str, what: str, code: str) -> Problem:
        detail = f"{what} are already in progress, the maximum. Try again in {self._retry_s} s."
        return Problem(status, title, detail, code=code, headers={"Retry-After": str(self._retry_s)})


FILES = LongRequests(
    "requests that read large files",
    places=4,
    per_team=2,
    code="file_readers_busy",
    team_code="too_many_file_readers",
    retry_s=10,
)
"""Requests that read, check, hash or copy gigabytes: dataset uploads and policy registrations."""
