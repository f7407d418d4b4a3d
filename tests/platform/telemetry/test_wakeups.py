"""The subscription that wakes streams: a connection that went silent is taken for lost."""

from typing import Any, cast

import pytest
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from dressage.monitoring.stream.wakeups import Wakeups

PONG = {"type": "pong", "data": b""}


class Inbox:
    """A subscription that receives what it is given; None is a silence."""

    def __init__(self, *received: dict[str, Any] | None) -> None:
        self.received = list(received)
        self.pings = 0

    async def get_message(self, timeout: float) -> dict[str, Any] | None:
        return self.received.pop(0)

    async def ping(self) -> None:
        self.pings += 1


@pytest.mark.asyncio
@pytest.mark.parametrize("answer", [PONG, {"type": "message", "data": b"run_1"}])
async def test_a_ping_without_an_answer_is_a_lost_connection(answer: dict[str, Any]) -> None:
    inbox = Inbox(None, answer, None, None)
    with pytest.raises(RedisError, match="not answered a ping"):
        await Wakeups()._deliver(cast(PubSub, inbox))
    assert (inbox.pings, inbox.received) == (2, [])
