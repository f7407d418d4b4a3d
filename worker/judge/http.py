"""An OpenAI-compatible endpoint over HTTP.

This uses aiohttp, although the link uses httpx: hundreds of requests are in flight on one event loop, and each has a
waiting thread in the same process. ``tests/bench/judge.py`` measures the cost of the client itself.
"""

from __future__ import annotations

from typing import Any

import aiohttp

from trainer_core.link.judge import JudgeEndpoint
from trainer_core.link.judge_chat import Answer, ChatCompletions
from trainer_core.link.retry import Transient, retry_after
from trainer_core.rewards.graders.model.judge import JudgeError, JudgeRequest
from worker.judge.network import GuardedResolver, require_literal

MOST_BYTES = 16 << 20
"""Largest accepted response body, in bytes."""


class HttpEndpoint:
    """Implements ``worker.judge.endpoint.Endpoint``."""

    def __init__(self, config: JudgeEndpoint) -> None:
        assert config.base_url is not None
        self._config = config
        self._url = f"{config.base_url.rstrip('/')}/chat/completions"
        self._secret = config.api_key.get_secret_value() if config.api_key is not None else ""
        self._chat = ChatCompletions(config)
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, request: JudgeRequest) -> Answer:
        """Implements ``Endpoint.ask``."""
        status, headers, body = await self._post(self._chat.body(request))
        if self._chat.wants_another_limit(status, body):
            status, headers, body = await self._post(self._chat.body(request))
        return self._chat.read(status, body, request, retry_after(headers.get("Retry-After")))

    async def close(self) -> None:
        """Implements ``Endpoint.close``."""
        if self._session is not None:
            await self._session.close()

    async def _post(self, body: bytes) -> tuple[int, Any, str]:
        """(status, headers, body). Raises Transient if there was no response."""
        if self._session is None:
            headers = {"Content-Type": "application/json"}
            if self._secret:
                headers["Authorization"] = f"Bearer {self._secret}"
            networks = self._config.networks
            if networks is not None:
                require_literal(self._url, networks)
            resolver = None if networks is None else GuardedResolver(networks)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._config.max_in_flight, ttl_dns_cache=300, resolver=resolver),
                timeout=aiohttp.ClientTimeout(total=self._config.timeout_s),
                headers=headers,
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        try:
            # A redirect could send the key to another host.
            async with self._session.post(self._url, data=body, allow_redirects=False) as response:
                data = b""
                async for part in response.content.iter_any():
                    data += part
                    if len(data) > MOST_BYTES:
                        raise JudgeError(f"the judge {self._config.model} sends more than {MOST_BYTES >> 20} MiB")
                return response.status, response.headers, data.decode(errors="replace")
        except TimeoutError:
            raise Transient(f"it did not answer within {self._config.timeout_s:g} s") from None
        except aiohttp.ClientError as error:
            raise Transient(f"it cannot be reached: {type(error).__name__}: {self._chat.clean(str(error))}") from None
