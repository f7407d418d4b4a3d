"""Uploads trace files one at a time, with retries until the platform has stored or finally refused each one."""

from __future__ import annotations

import threading
from typing import Literal
from urllib.parse import urljoin

import httpx

from trainer_core.link import version
from trainer_core.link.refusal import FENCED
from trainer_core.link.traces import MEDIA_TYPE, TraceHeader
from worker.link.answers import refusal

BACKOFF_S = (0.5, 15.0)
"""First and longest pause after a failed upload."""
PERMANENT = frozenset({400, 413, 415, 422})
"""Status codes with which the platform says that it will never accept this file."""

Sent = Literal["stored", "refused", "unknown", "ended"]
"""Outcome of an upload: the platform has it, will never accept it, knows no trace files, or the attempt is over."""


class TraceUpload:
    """The sending half of the link for trace files. Used by one thread; ``stop`` may be called from others."""

    def __init__(self, url: str, token: str, run_id: str) -> None:
        self._base = urljoin(url.rstrip("/") + "/", f"api/v1/link/runs/{run_id}/traces/")
        headers = {"Authorization": f"Bearer {token}", "Content-Type": MEDIA_TYPE, **version.header()}
        self._client = httpx.Client(headers=headers, timeout=httpx.Timeout(60.0, connect=3.0))
        self._stop = threading.Event()
        self.refusal = ""
        """Reason of the last refusal."""

    def send(self, header: TraceHeader, data: bytes) -> Sent:
        """Send a file, retrying as often as needed. Also returns ``ended`` if ``stop`` was called."""
        pause, longest = BACKOFF_S
        while not self._stop.is_set():
            try:
                response = self._client.put(urljoin(self._base, f"{header.step}/{header.number}"), content=data)
            except httpx.HTTPError:
                pass
            else:
                if response.is_success:
                    return "stored"
                if response.status_code in FENCED:
                    return "ended"
                if response.status_code in (404, 405):
                    return "unknown"
                if response.status_code in PERMANENT:
                    self.refusal = refusal(response)
                    return "refused"
            self._stop.wait(pause)
            pause = min(2 * pause, longest)
        return "ended"

    def stop(self) -> None:
        """Abandon the current upload."""
        self._stop.set()

    def close(self) -> None:
        self._client.close()
