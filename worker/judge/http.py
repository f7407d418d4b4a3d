"""An OpenAI-compatible endpoint over HTTP.

aiohttp, where the link uses httpx: hundreds of requests are in flight on one event loop, and each has a thread that
waits for it in the same process. ``tests/bench/judge.py`` measures what the client itself costs.
"""

from __future__ import annotations

import json
from typing import Any

import aiohttp

from trainer_core.link.judge import JudgeEndpoint
from trainer_core.rewards.graders.judge import JudgeError, JudgeRequest
from worker.judge.endpoint import Answer
from worker.judge.network import GuardedResolver, require_literal
from worker.judge.retry import TRANSIENT, Transient, retry_after

MOST_BYTES = 16 << 20
"""A longer body is no answer."""


class HttpEndpoint:
    """Implements ``worker.judge.endpoint.Endpoint``."""

    def __init__(self, config: JudgeEndpoint) -> None:
        assert config.base_url is not None
        self._config = config
        self._url = f"{config.base_url.rstrip('/')}/chat/completions"
        self._secret = config.api_key.get_secret_value() if config.api_key is not None else ""
        self._limit = "max_tokens"
        """The name by which the endpoint knows the longest answer: newer models of OpenAI refuse the older one."""
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, request: JudgeRequest) -> Answer:
        """Implements ``Endpoint.ask``."""
        status, headers, body = await self._post(self._body(request))
        if status == 400 and self._limit == "max_tokens" and "max_completion_tokens" in body:
            self._limit = "max_completion_tokens"
            status, headers, body = await self._post(self._body(request))
        if status in TRANSIENT:
            raise Transient(f"it answered {status}: {self._said(body)}", retry_after(headers.get("Retry-After")))
        if status != 200:
            raise JudgeError(f"the judge {self._config.model} answered {status}: {self._said(body)}")
        return self._read(body, request)

    async def close(self) -> None:
        """Implements ``Endpoint.close``."""
        if self._session is not None:
            await self._session.close()

    async def _post(self, body: bytes) -> tuple[int, Any, str]:
        """(status, headers, body). Raises Transient where there was no answer."""
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
            # A redirect could take the key elsewhere.
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
            raise Transient(f"it cannot be reached: {type(error).__name__}: {self._clean(str(error))}") from None

    def _body(self, request: JudgeRequest) -> bytes:
        fields = {
            "model": self._config.model,
            "messages": list(request.messages),
            self._limit: request.max_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": request.seed,
            "reasoning_effort": request.reasoning_effort,
            "response_format": request.response_format,
        }
        given = {name: value for name, value in fields.items() if value is not None}
        return json.dumps(given).encode()

    def _read(self, body: str, request: JudgeRequest) -> Answer:
        try:
            document = json.loads(body)
            choice = document["choices"][0]
            text, reason = choice["message"]["content"], choice.get("finish_reason")
            usage = document.get("usage") or {}
            tokens = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            raise Transient(f"its answer is no chat completion: {self._excerpt(body)}") from None
        if reason == "length":
            raise JudgeError(f"the judge's answer was cut off at {request.max_tokens} tokens")
        if not isinstance(text, str):
            raise Transient(f"its answer holds no text: {self._excerpt(body)}")
        return Answer(text, *tokens)

    def _said(self, body: str) -> str:
        """The endpoint's own words on what is wrong."""
        try:
            document = json.loads(body)
            error = document.get("error", document)
            message = error.get("message", body) if isinstance(error, dict) else error
        except (ValueError, AttributeError, RecursionError):
            message = body
        return self._excerpt(str(message))

    def _excerpt(self, text: str) -> str:
        text = self._clean(text)
        return text if len(text) <= 300 else f"{text[:300]}…"

    def _clean(self, text: str) -> str:
        return text.replace(self._secret, "***") if self._secret else text
