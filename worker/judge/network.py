"""Keeps judges out of networks that only the cluster can reach, based on the address of the connection.

A name is resolved once per connection, and the connection uses the checked address. So DNS answers that change between
check and use have no effect.
"""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.helpers import is_ip_address
from aiohttp.resolver import DefaultResolver

from trainer_core.networks import Network, may_ask
from trainer_core.rewards.graders.model.judge import JudgeError


class GuardedResolver(AbstractResolver):
    """Resolves names, and returns only allowed addresses."""

    def __init__(self, networks: tuple[Network, ...]) -> None:
        self._networks = networks
        self._inner = DefaultResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Resolve a name for aiohttp. Raises JudgeError if none of its addresses is allowed."""
        found = await self._inner.resolve(host, port, family)
        allowed = [one for one in found if may_ask(one["host"], self._networks)]
        if found and not allowed:
            raise refusal(host)
        return allowed

    async def close(self) -> None:
        """Close for aiohttp."""
        await self._inner.close()


def require_literal(url: str, networks: tuple[Network, ...]) -> None:
    """Raises JudgeError for a literal address that is not allowed. Literal addresses bypass the resolver."""
    host = urlsplit(url).hostname or ""
    if is_ip_address(host) and not may_ask(host, networks):
        raise refusal(host)


def refusal(host: str) -> JudgeError:
    """Error for a judge whose address is not allowed."""
    return JudgeError(f"the judge's address {host} is in a network that this installation does not allow for judges")
