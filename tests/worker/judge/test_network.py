"""Judges in networks that only the cluster reaches are not asked, however they are spelt."""

import asyncio
from collections.abc import Iterator
from ipaddress import ip_network

import pytest

from tests.support.judge_endpoint import JudgeServer
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.rewards.graders.model.judge import JudgeError, JudgeRequest
from worker.judge.http import HttpEndpoint

LOCAL = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    server = JudgeServer('{"score": 1}')
    yield server
    server.close()


async def ask(url: str, networks: tuple | None) -> str:
    endpoint = HttpEndpoint(JudgeEndpoint(base_url=url, model="m", networks=networks))
    try:
        return (await endpoint.ask(JudgeRequest(messages=({"role": "user", "content": "x"},)))).text
    finally:
        await endpoint.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_not_asked_unless_allowed(server: JudgeServer, host: str) -> None:
    url = server.url.replace("127.0.0.1", host)
    with pytest.raises(JudgeError, match="does not allow"):
        asyncio.run(ask(url, ()))
    assert server.requests == []
    assert asyncio.run(ask(url, LOCAL)) == '{"score": 1}'
    assert asyncio.run(ask(url, None)) == '{"score": 1}'
