"""The candidate's jail of an assert test: runs the solution, then answers calls of its functions."""

import types
from typing import Any

from worker.sandbox import wire

_CHANNEL = 102


def serve(code: str) -> int:
    """Announce the names that the solution defines, then call what is asked for until the channel ends."""
    from worker.sandbox.roles import fresh_module

    line = wire.JsonConnection(_CHANNEL)
    space = fresh_module().__dict__
    exec(compile(code, "<solution>", "exec"), space)  # nosec B102
    kept: list[Any] = []

    def keep(value: Any) -> int:
        kept.append(value)
        return len(kept) - 1

    modules = {name: value.__name__ for name, value in space.items() if isinstance(value, types.ModuleType)}
    line.send({"names": [name for name in space if name not in modules and name[:2] != "__"], "modules": modules})
    while True:
        try:
            request = line.receive()
        except EOFError:
            return 0
        line.send(_call(space, request, kept, keep))


def _call(space: dict[str, Any], request: dict[str, Any], kept: list[Any], keep: Any) -> dict[str, Any]:
    try:
        arguments = wire.decode(request["arguments"], kept.__getitem__)
        named = wire.decode(request["named"], kept.__getitem__)
        name = request["name"]
        function = space[name] if name in space else getattr(space["Solution"](), name)
        value = function(*arguments, **named) if request["call"] else function
        return {"value": wire.encode(value, keep), "arguments": wire.encode(arguments, keep)}
    except BaseException as error:
        return {"error": type(error).__name__, "message": str(error)[:200]}
