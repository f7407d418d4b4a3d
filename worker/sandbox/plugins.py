"""Calls a team's reward functions as TRL or verifiers would, with one completion."""

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

from worker.sandbox import shims

Values = list[tuple[str, float, float | None]]
"""Name, weight and value of each function."""
_OF_A_GROUP = {"completions", "prompts", "answers", "states", "tasks", "infos"}
"""Parameter names by which verifiers recognises a function that compares the completions of one prompt."""


def values(job: Mapping[str, Any]) -> Values:
    """Values that the functions return. Raises any exception that they raise."""
    from worker.sandbox.roles import fresh_module

    shims.install()
    module = fresh_module("plugin")
    exec(compile(job["code"], "<plugin>", "exec"), module.__dict__)  # nosec B102
    item, text = dict(job["item"]), job["text"]
    prompt = _prompt(item, job["messages"])
    completion = [{"role": "assistant", "content": text}] if job["messages"] else text
    if job["kind"] == "trl":
        chosen = [(_function(module.__dict__, name), weight) for name, weight in job["functions"]]
        return [(function.__name__, weight, _trl(function, prompt, completion, item)) for function, weight in chosen]
    rubrics = [] if job["functions"] else _rubrics(module.__dict__)
    known = _state(item, prompt, completion)
    found: Values = []
    for name, weight in job["functions"]:
        found.append((name, weight, _verifiers(_function(module.__dict__, name), known)))
    for rubric in rubrics:
        parts = known | rubric.class_objects
        for function, weight in zip(rubric.funcs, rubric.weights, strict=True):
            found.append((function.__name__, weight, _verifiers(function, parts)))
    return found


def _prompt(item: Mapping[str, Any], as_messages: bool) -> Any:
    messages = item.get("messages")
    if as_messages:
        return messages if messages else [{"role": "user", "content": item.get("prompt", "")}]
    return item["prompt"] if "prompt" in item else "\n".join(str(one["content"]) for one in messages or [])


def _function(space: Mapping[str, Any], name: str) -> Callable[..., Any]:
    function = space.get(name)
    if not callable(function):
        raise NameError(f"the file defines no function {name!r}")
    if not hasattr(function, "__name__"):  # an object with __call__
        return _named(function, name)
    return function


def _named(inner: Callable[..., Any], name: str) -> Callable[..., Any]:
    def function(*arguments: Any, **named: Any) -> Any:
        return inner(*arguments, **named)

    function.__name__ = name
    function.__signature__ = inspect.signature(inner)  # type: ignore[attr-defined]
    return function


def _rubrics(space: Mapping[str, Any]) -> list[shims.Rubric]:
    loaded = space["load_rubric"]() if "load_rubric" in space else None
    found = {id(value): value for value in space.values() if isinstance(value, shims.Rubric)}
    if loaded is None and len(found) != 1:
        raise NameError(f"the file holds {len(found)} rubrics and no load_rubric(); name the functions that count")
    rubric = loaded if loaded is not None else next(iter(found.values()))
    return rubric.rubrics if isinstance(rubric, shims.RubricGroup) else [rubric]


def _trl(function: Callable[..., Any], prompt: Any, completion: Any, item: Mapping[str, Any]) -> float | None:
    columns = {name: [value] for name, value in item.items() if name not in ("prompt", "messages", "completion")}
    found = _call(function, {**columns, "prompts": [prompt], "completions": [completion], "trainer_state": None})
    given = list(found)
    if len(given) != 1:
        raise ValueError(f"{function.__name__} returned {len(given)} rewards for 1 completion")
    return None if given[0] is None else float(given[0])


def _verifiers(function: Callable[..., Any], known: Mapping[str, Any]) -> float:
    named = _OF_A_GROUP & set(inspect.signature(function).parameters)
    if named:
        raise TypeError(f"{function.__name__} compares the completions of a group ({', '.join(sorted(named))}): "
                        "samples are graded one by one")  # fmt: skip
    return float(_call(function, known))


def _state(item: Mapping[str, Any], prompt: Any, completion: Any) -> dict[str, Any]:
    info = item.get("info") or {}
    known = {
        "prompt": prompt,
        "completion": completion,
        "answer": item.get("answer", ""),
        "task": item.get("task", "default"),
        "info": json.loads(info) if isinstance(info, str) else info,
        "parser": shims.Parser(),
    }
    state = {name: known[name] for name in ("prompt", "completion", "answer", "task", "info")}
    return {**known, "state": {**state, "responses": [], "turn": 1, "input": dict(item)}}


def _call(function: Callable[..., Any], known: Mapping[str, Any]) -> Any:
    """Call with the arguments that it names, or with all if it accepts any. Waits for coroutines."""
    parameters = inspect.signature(function).parameters.values()
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        known = {parameter.name: known[parameter.name] for parameter in parameters if parameter.name in known}
    found = function(**known)
    if inspect.isawaitable(found):
        import asyncio

        return asyncio.run(_awaited(found))
    return found


async def _awaited(found: Any) -> Any:
    return await found
