"""Keeps judges out of networks that only the cluster reaches: decided by the address that is connected to.

A name is looked up once for each connection, and what was looked up is what is connected to: an answer that changes
between a check and its use does not help.
"""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.helpers import is_ip_address
from aiohttp.resolver import DefaultResolver

from trainer_core.networks import Network, may_ask
from trainer_core.rewards.graders.judge import JudgeError


class GuardedResolver(AbstractResolver):
    """Looks names up, and gives only those of their addresses that may be asked."""

    def __init__(self, networks: tuple[Network, ...]) -> None:
        self._networks = networks
        self._inner = DefaultResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Resolve as aiohttp asks. Raises JudgeError when none of the addresses may be asked."""
        found = await self._inner.resolve(host, port, family)
        allowed = [one for one in found if may_ask(one["host"], self._networks)]
        if found and not allowed:
            raise refusal(host)
        return allowed

    async def close(self) -> None:
        """Close as aiohttp asks."""
        await self._inner.close()


def require_literal(url: str, networks: tuple[Network, ...]) -> None:
    """Raises JudgeError for an address that is written out, which no resolver sees, and may not be asked."""
    host = urlsplit(url).hostname or ""
    if is_ip_address(host) and not may_ask(host, networks):
        raise refusal(host)


def refusal(host: str) -> JudgeError:
    """Sentence about a judge that may not be asked."""
    return JudgeError(f"the judge's address {host} is in a network that this installation does not allow for judges")
