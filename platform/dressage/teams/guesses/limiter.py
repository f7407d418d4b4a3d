"""Counts guesses in Redis, each in one step, with a clock that the caller may pass in."""

import functools
import json
import math
from dataclasses import asdict, dataclass, field
from time import time
from typing import Any, Literal

import redis
from django.conf import settings
from redis.commands.core import Script

from dressage.common.redis_pool import SharedPool

_TAKE = """
-- Counts one guess at every gate, or at none. ARGV: the time in seconds, the gates as JSON.
-- Answers the milliseconds to wait (0: counted) and, in that case, the allowances of which one was taken.
local now, gates = tonumber(ARGV[1]), cjson.decode(ARGV[2])
local wait, taken, writes = 0, {}, {}

local function full_at(allowance)
  return math.max(tonumber(redis.call('GET', allowance.key) or now), now)
end

local function lacks(allowance)
  return full_at(allowance) + allowance.every - now - allowance.burst * allowance.every
end

local function draw(allowance)
  table.insert(taken, allowance.key)
  table.insert(writes, {'SET', allowance.key, string.format('%.6f', full_at(allowance) + allowance.every),
    'EX', math.ceil(allowance.every * (allowance.burst + 1))})
end

local function pass_allowance(gate)
  wait = math.max(wait, lacks(gate))
  draw(gate)
end

local function pass_tries(gate)
  local found = redis.call('HMGET', gate.key, 'count', 'next')
  local count, next_at = tonumber(found[1] or 0), tonumber(found[2] or 0)
  wait = math.max(wait, next_at - now)
  local free, first = gate.free, gate.first
  if gate.alone then
    if (full_at(gate.alone) - now) / gate.alone.every >= gate.crowd then free = gate.free_in_crowd end
    local from = gate.shared
    if count < free and lacks(gate.alone) <= 0 then from = gate.alone end
    pass_allowance(from)
  end
  local pause = 0
  if count + 1 >= free then pause = math.min(gate.longest, first * 2 ^ math.min(count + 1 - free, 40)) end
  table.insert(writes, {'HSET', gate.key, 'count', count + 1, 'next', string.format('%.6f', now + pause)})
  table.insert(writes, {'EXPIRE', gate.key, gate.kept})
end

for _, gate in ipairs(gates) do
  if gate.kind == 'tries' then pass_tries(gate) else pass_allowance(gate) end
end
if wait > 0 then return {math.ceil(wait * 1000)} end
for _, write in ipairs(writes) do redis.call(unpack(write)) end
return {0, unpack(taken)}
"""

_GIVE_BACK = """
-- The guess was right. ARGV: the gates as JSON, then the allowances of which one was taken.
local gates, every = cjson.decode(ARGV[1]), {}
for _, gate in ipairs(gates) do
  if gate.kind == 'tries' then redis.call('DEL', gate.key) end
  for _, allowance in ipairs({gate, gate.alone or gate, gate.shared or gate}) do
    every[allowance.key] = allowance.every
  end
end
for number = 2, #ARGV do
  local key = ARGV[number]
  local full = tonumber(redis.call('GET', key) or 0)
  if full > 0 then redis.call('SET', key, string.format('%.6f', full - every[key]), 'KEEPTTL') end
end
"""


@dataclass(frozen=True)
class Allowance:
    """Guesses for one client or shared by many: a burst of ``burst``, and one more every ``every`` seconds."""

    key: str
    burst: int
    every: float
    kind: Literal["allowance"] = "allowance"


@dataclass(frozen=True, kw_only=True)
class Tries:
    """Consecutive wrong guesses by one client: some are free, then each one doubles the wait."""

    key: str
    free: int
    first: float = 1.0
    """Seconds to wait after the last free guess."""
    longest: float
    """Longest wait in seconds."""
    kept: int = 30 * 24 * 3600
    """Seconds after which an idle client is forgotten."""
    alone: Allowance | None = None
    """Allowance that free guesses are taken from, if any."""
    shared: Allowance | None = None
    """Allowance that all other guesses are taken from; given together with ``alone``."""
    crowd: int = 0
    """Number of guesses taken from ``alone`` and not yet refilled at which ``free_in_crowd`` replaces ``free``."""
    free_in_crowd: int = 0
    kind: Literal["tries"] = "tries"


Gate = Allowance | Tries


@dataclass(frozen=True)
class Guess:
    """Result of one guess: it may be checked if ``wait`` is 0; otherwise nothing was counted."""

    wait: float
    gates: tuple[Gate, ...] = ()
    taken: tuple[str, ...] = field(default=())

    def was_right(self) -> None:
        """Give the guess back, and forget this client's wrong guesses at this account."""
        _script(_GIVE_BACK)(args=[_document(self.gates), *self.taken])


def guess(*gates: Gate, now: float | None = None) -> Guess:
    """Count one guess at all gates, or at none if one of them is closed.

    Args:
        gates: the limits that it counts towards.
        now: seconds since 1970; by default the current time.

    Raises:
        redis.exceptions.ConnectionError: Redis is down; nothing may be checked without counting it.
    """
    moment = time() if now is None else now
    answer = _script(_TAKE)(args=[f"{moment:.6f}", _document(gates)])
    return Guess(int(answer[0]) / 1000, gates, tuple(key.decode() for key in answer[1:]))


def seconds(wait: float) -> int:
    """Whole seconds that the client should wait, as the response states them."""
    return max(1, math.ceil(wait))


def _document(gates: tuple[Gate, ...]) -> str:
    def present(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in pairs if value is not None}

    return json.dumps([asdict(gate, dict_factory=present) for gate in gates])


@functools.cache
def _script(text: str) -> Script:
    return redis.Redis(connection_pool=SharedPool.from_url(settings.REDIS_URL)).register_script(text)
