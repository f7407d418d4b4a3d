"""The link of a job that is fetched once and answered once: reward bench, rehearsal, profile or serving.

The platform may be away for some time.
"""

import time
from collections.abc import Callable
from typing import Any

import httpx

from trainer_core.link import version
from trainer_core.link.base import Message
from trainer_core.link.refusal import FENCED_OR_GONE
from worker.errors import FencedError
from worker.link.answers import objection, refusal

RETRY_S = 1.0


class NotUnderstood(FencedError):
    """The platform rejects a request in a way that a worker of its version never sees. The worker still has the job."""


class JobLink:
    """One job's connection. Not thread-safe: the heartbeat uses a separate one."""

    def __init__(self, url: str, token: str, path: str, what: str) -> None:
        """
        Args:
            url: address of the platform.
            token: secret of the job.
            path: path of the job on the link.
            what: name of such jobs, for error messages.
        """
        self._path, self._what = path, what
        headers = {"Authorization": f"Bearer {token}", **version.header()}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=30.0)

        self.objection: str | None = None
        """Reason why this worker cannot work with the platform, as a sentence, or None. Set with the job."""

    def fetch(self) -> dict[str, Any]:
        """Fetch and claim the job. Waits for a platform that is away. Raises FencedError."""
        response = self._until_answered(lambda: self._client.get(self._path))
        self.objection = objection(response)
        return dict(response.json())

    def renew(self, stopped: Callable[[], bool], progress: Message | None = None) -> None:
        """Renew the lease. Waits for a platform that is away until ``stopped``. Raises FencedError."""
        body = None if progress is None else progress.wire()
        self._until_answered(lambda: self._client.post(f"{self._path}/lease", json=body), stopped)

    def hand_in(self, part: str, message: Message) -> None:
        """Submit a part of the result. Waits for a platform that is away. Raises FencedError."""
        self._until_answered(lambda: self._client.post(f"{self._path}/{part}", json=message.wire()))

    def exchange(self, part: str, message: Message) -> dict[str, Any]:
        """Send a message and return the platform's answer. Waits for a platform that is away. Raises FencedError."""
        response = self._until_answered(lambda: self._client.post(f"{self._path}/{part}", json=message.wire()))
        return dict(response.json())

    def answer(self, result: Message) -> None:
        """Submit the result. Waits for a platform that is away. Raises FencedError."""
        self._until_answered(lambda: self._client.post(f"{self._path}/result", json=result.wire()))

    def close(self) -> None:
        self._client.close()

    def _until_answered(
        self, send: Callable[[], httpx.Response], stopped: Callable[[], bool] = lambda: False
    ) -> httpx.Response:
        while not stopped():
            try:
                response = send()
            except httpx.TransportError:
                time.sleep(RETRY_S)
                continue
            if response.status_code in FENCED_OR_GONE:
                raise FencedError(f"the platform refuses the {self._what}: {refusal(response)}")
            if response.status_code < 400:
                return response
            if response.status_code < 500 and response.status_code != 429:
                raise NotUnderstood(f"the platform rejects the message: {response.status_code} {response.text[:300]}")
            time.sleep(RETRY_S)
        raise FencedError("stopped")
