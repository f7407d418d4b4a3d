"""The formulas of a kind of method: one table maps each class of parameters to its function."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar, cast

from trainer_core.spec.methods.kinds import MethodModel
from trainer_core.spec.plugins import resolve

Function = TypeVar("Function", bound=Callable[..., Any])


class Table(Generic[Function]):
    """The formula of every member of a kind. Members from installed packages name their own formulas, which are loaded
    on first use.

    Raises:
        TypeError: a member of the kind has no formula, or a formula belongs to no member.
    """

    def __init__(
        self, kind: str, members: Iterable[type[MethodModel]], formulas: Mapping[type[MethodModel], Function]
    ) -> None:
        """``kind`` is the name in error messages; ``members`` are those of the spec."""
        members = tuple(members)
        own = {member for member in members if not member.function}
        for words, odd in (("no formula", own - formulas.keys()), ("no place in the spec", formulas.keys() - own)):
            if odd:
                raise TypeError(f"the {kind} {', '.join(sorted(one.__name__ for one in odd))} has {words}")
        self._formulas: dict[type[MethodModel], Function] = dict(formulas)
        self._members = members

    def of(self, spec: MethodModel) -> Function:
        """The formula of ``spec``.

        Raises:
            PluginError: it is from an installed package and cannot be loaded.
        """
        member = type(spec)
        if member not in self._formulas:
            self._formulas[member] = cast(Function, resolve(member))
        return self._formulas[member]
