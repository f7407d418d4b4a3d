"""The sending half of ``distributed``: a thread that answers requests for a version."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from worker.learner.transport.groups import Backend, SenderGroup, listening_store

if TYPE_CHECKING:
    from torch import Tensor

log = logging.getLogger(__name__)

GATHER_S = 0.2
"""Seconds that the first request waits for the others, so that one broadcast serves all."""
LOOK_S = 0.02
"""Seconds between two checks for a request. If the store waited, torch would log a warning for each timeout."""
DEAD_S = 2.0
"""Seconds after which a reader that announced a request but did not make it is considered dead."""


@dataclass(frozen=True, slots=True)
class WeightRequest:
    """A request for a version."""

    key: str
    reader: str
    number: int


class Sending:
    """Versions on offer, and the thread that sends them. Only that thread uses the store."""

    def __init__(self, address: str, engines: int, backend: Backend) -> None:
        """Listen on ``address``; wait briefly for all ``engines`` before sending a version to any of them."""
        self._address, self._engines, self._backend = address, engines, backend
        self._store = listening_store(address)
        self.port = self._store.port
        self.session = uuid4().hex
        self._offered: dict[str, Tensor] = {}
        self._groups: dict[tuple[str, ...], tuple[str, SenderGroup]] = {}
        self._waiting: deque[WeightRequest] = deque()
        self._number, self._made = 1, 0
        self._closed = threading.Event()
        threading.Thread(target=self._serve, name="weights", daemon=True).start()

    def offer(self, key: str, whole: Tensor) -> None:
        """Send these bytes to every reader that requests ``key``."""
        self._offered[key] = whole

    def withdraw(self, key: str) -> None:
        """Stop sending the bytes of ``key``."""
        self._offered.pop(key, None)

    def close(self) -> None:
        """Stop after the current transfer."""
        self._closed.set()

    def _serve(self) -> None:
        while not self._closed.is_set():
            first = self._waiting.popleft() if self._waiting else self._next(DEAD_S)
            if first is None:
                continue
            asks = self._together(first)
            try:
                self._answer(asks)
            except RuntimeError as error:
                log.warning("weights could not be sent to %d engines: %s", len(asks), str(error))

    def _next(self, patience: float) -> WeightRequest | None:
        name, until = f"{self.session}/ask/{self._number}", time.monotonic() + patience
        while not self._store.check([name]):
            if time.monotonic() > until or self._closed.wait(LOOK_S):
                announced = self._store.add(f"{self.session}/asks", 0)
                if patience >= DEAD_S and announced >= self._number and not self._store.check([name]):
                    self._number += 1
                return None
        self._number += 1
        ask = WeightRequest(**json.loads(self._store.get(name)))
        self._store.delete_key(name)
        return ask

    def _together(self, first: WeightRequest) -> list[WeightRequest]:
        """Requests for the same version within a moment."""
        asks, until = [first], time.monotonic() + GATHER_S
        others = [ask for ask in self._waiting if ask.key == first.key]
        self._waiting = deque(ask for ask in self._waiting if ask.key != first.key)
        asks += others
        while len(asks) < self._engines and (left := until - time.monotonic()) > 0:
            if (ask := self._next(left)) is None:
                continue
            if ask.key == first.key:
                asks.append(ask)
            else:
                self._waiting.append(ask)
        return asks

    def _answer(self, asks: list[WeightRequest]) -> None:
        whole = self._offered.get(asks[0].key)
        if whole is None:
            for ask in asks:
                self._tell(ask, None)
            return
        readers = _readers(asks)
        known = self._groups.get(readers)
        if known is None:
            self._made += 1
        name = f"{self.session}/group/{self._made}" if known is None else known[0]
        for ask in asks:
            self._tell(ask, (name, 1 + readers.index(ask.reader), 1 + len(readers)))
        group = known[1] if known else SenderGroup(self._store, name, 0, 1 + len(readers), self._address, self._backend)
        self._groups.pop(readers, None)
        try:
            group.pass_on(whole)
        except RuntimeError:
            group.leave()
            raise
        self._groups[readers] = (name, group)
        while len(self._groups) > self._engines + 1:  # one group of all, and one for each alone
            self._groups.pop(next(iter(self._groups)))

    def _tell(self, ask: WeightRequest, answer: tuple[str, int, int] | None) -> None:
        self._store.set(f"{self.session}/answer/{ask.number}", json.dumps(answer))


def _readers(asks: list[WeightRequest]) -> tuple[str, ...]:
    return tuple(sorted({ask.reader for ask in asks}))
