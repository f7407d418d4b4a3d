"""The counts of the load test of streams, with a socket that loses, repeats and turns round what is sent."""

import asyncio
import json
import time
from typing import Any, cast

import pytest
from websockets.asyncio.client import ClientConnection

from tests.bench import load_streams
from tests.bench.load_streams import Lags, follow


class Wire:
    """Receives one frame per step, then nothing."""

    def __init__(self, *steps: int) -> None:
        self._steps = list(steps)

    async def recv(self) -> str:
        if not self._steps:
            await asyncio.Event().wait()
        events: list[dict[str, Any]] = [{"kind": "step", "step": self._steps.pop(0)}, {"kind": "log"}]
        return json.dumps({"type": "events", "events": events})


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("steps", "counts"),
    [
        ((1, 2, 3, 4), (0, 0, 0)),
        ((1, 3, 3, 4), (1, 1, 0)),  # as many as were sent
        ((1, 2, 3, 4, 4), (0, 1, 0)),
        ((1, 3, 2, 4), (0, 0, 1)),
        ((1, 2, 3), (1, 0, 0)),
    ],
)
async def test_what_is_lost_doubled_and_disordered(
    steps: tuple[int, ...], counts: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_streams, "SILENCE_S", 0.2)
    monkeypatch.setattr(load_streams, "AFTER_S", 0.1)
    lags = Lags(sent=dict.fromkeys(range(1, 5), time.perf_counter()))
    await follow(cast(ClientConnection, Wire(*steps)), range(1, 5), lags)
    assert (lags.missing, lags.doubled, lags.disordered) == counts
    assert len(lags.seen) == len(set(steps))
