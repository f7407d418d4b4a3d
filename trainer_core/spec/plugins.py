"""Plug-ins: losses, advantages, filters and graders of installed packages, found by their entry points.

An entry point's name is the method's ``type``, its value the class of parameters (``package.module:Class``). The class
imports without torch, so that the web tier can load it; it names its formula as text (``function``), which the learner
loads. A plug-in that cannot be used takes nothing else down: it is told in the log and kept in ``failures``, its type
stays unknown, and whoever asks for it is answered with the reason.
"""

import importlib
import logging
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from trainer_core.spec.base import SpecModel

log = logging.getLogger("dressage.plugins")

GROUPS = {
    "dressage.losses": "loss",
    "dressage.advantages": "advantage",
    "dressage.filters": "filter",
    "dressage.graders": "grader",
}
"""Groups of entry points, and what each is called in a sentence."""
REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
"""``package.module:function``."""

Model = TypeVar("Model", bound=SpecModel)


class PluginError(RuntimeError):
    """A plug-in that cannot be used; the message names its package and the reason."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point of an installed package."""

    group: str
    type: str
    package: str
    """Name and version of the package, as installed."""

    def __str__(self) -> str:
        return f"the {GROUPS[self.group]} {self.type!r} of the package {self.package}"


loaded: dict[type[SpecModel], Plugin] = {}
"""The plug-ins that joined, by their class of parameters."""
failures: dict[Plugin, str] = {}
"""The plug-ins that did not join, with the reason."""


def members(group: str, base: type[Model], builtin: tuple[type[Model], ...]) -> tuple[type[Model], ...]:
    """The built-in members of a kind, then those of installed packages in the order of their types.

    Args:
        group: the group of the entry points.
        base: the class that parameters of this kind derive from.
        builtin: the members that come with the platform.
    """
    taken = {_type(member) for member in builtin}
    claims: dict[str, list[EntryPoint]] = {}
    for entry in _entries(group):
        claims.setdefault(entry.name, []).append(entry)
    joined = []
    for name, entries in sorted(claims.items()):
        plugins = [Plugin(group, name, _package(entry)) for entry in entries]
        packages = " and ".join(plugin.package for plugin in plugins)
        try:
            if name in taken:
                raise PluginError(f"the type {name!r} is built in: the package must choose another")
            if len(entries) > 1:
                raise PluginError(f"{packages} both define it: uninstall one of them")
            member = _load(entries[0], base)
        except PluginError as error:
            for plugin in plugins:
                failures[plugin] = str(error)
                log.error("plug-in skipped: %s: %s", plugin, error)
            continue
        loaded[member] = plugins[0]
        joined.append(member)
    return (*builtin, *joined)


def one_of(group: str, found: tuple[type[SpecModel], ...]) -> Any:
    """The annotation of a field that holds one of ``found``, told apart by ``type``; its JSON Schema has no more.

    A type that is not known is refused with the reason: a plug-in that failed here, or one that is not installed.
    """
    known = {_type(member) for member in found}

    def check(value: Any) -> Any:
        asked = value.get("type") if isinstance(value, Mapping) else None
        if isinstance(asked, str) and asked not in known and (reason := _why_unknown(group, asked)) is not None:
            # The reason travels in the context, so that braces in it are not taken as placeholders.
            raise PydanticCustomError("plugin_missing", "{reason}", {"reason": reason})
        return value

    return Annotated[Union[found], Field(discriminator="type"), BeforeValidator(check)]  # noqa: UP007


def resolve(member: type[Any]) -> Callable[..., Any]:
    """The formula that a plug-in's class of parameters names.

    Raises:
        PluginError: it cannot be imported, or is no function.
    """
    reference = str(member.function)
    module, _, name = reference.partition(":")
    where = loaded.get(member, member.__name__)
    try:
        found = getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:
        raise PluginError(f"{where}: its formula {reference} cannot be loaded: {_words(error)}") from error
    if not callable(found):
        raise PluginError(f"{where}: its formula {reference} is not a function")
    formula: Callable[..., Any] = found
    return formula


def _load(entry: EntryPoint, base: type[Model]) -> type[Model]:
    light = "torch" not in sys.modules
    try:
        member = entry.load()
    except (Exception, SystemExit) as error:
        raise PluginError(f"{entry.value} cannot be imported: {_words(error)}") from error
    if light and "torch" in sys.modules:
        raise PluginError(f"{entry.value} imports torch, which parameters must not: name its formula instead")
    if not (isinstance(member, type) and issubclass(member, base)):
        raise PluginError(f"{entry.value} is not a {base.__name__}: its parameters must derive from that class")
    if _type(member) != entry.name:
        raise PluginError(f'{entry.value} must have the field type: Literal["{entry.name}"] = "{entry.name}"')
    function = getattr(member, "function", None)
    if function is not None and not REFERENCE.fullmatch(str(function)):
        raise PluginError(f'{entry.value} must name its formula: function = "package.module:function"')
    try:
        member.model_json_schema()
    except Exception as error:
        raise PluginError(f"{entry.value} has no JSON Schema for the form: {_words(error)}") from error
    return member


def _type(member: type[SpecModel]) -> str | None:
    """The one value of the field ``type``; None where it is not a literal with that default."""
    info = member.model_fields.get("type")
    if info is None or get_origin(info.annotation) is not Literal or get_args(info.annotation) != (info.default,):
        return None
    return str(info.default)


def _why_unknown(group: str, asked: str) -> str | None:
    for plugin, reason in failures.items():
        if (plugin.group, plugin.type) == (group, asked):
            return f"{plugin} could not be loaded: {reason}"
    return None


@cache
def _every_entry() -> tuple[EntryPoint, ...]:
    """All of our groups, read once: a look at every installed package takes a while."""
    found = entry_points()
    return tuple(entry for group in GROUPS for entry in found.select(group=group))


def _entries(group: str) -> Iterable[EntryPoint]:
    return sorted((entry for entry in _every_entry() if entry.group == group), key=_package)


def _package(entry: EntryPoint) -> str:
    return "of an unknown name" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


def _words(error: BaseException) -> str:
    """An error as a part of a sentence."""
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'without a message'}"
