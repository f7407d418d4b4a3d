"""Stand-ins for the objects of another jail: classes, objects, functions, generators, coroutines and exceptions."""

import abc
import enum
import functools
import inspect
import threading
import types
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worker.sandbox.calls import believing
from worker.sandbox.calls.operands import REDUCTIONS, WATCHED

if TYPE_CHECKING:
    from worker.sandbox.calls.peer import Peer

BASES = (int, float, str, bytes, list, tuple, dict, set, frozenset)
"""Builtin classes whose content can be read independently of what a subclass makes of it."""
_COMPARED = ("__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__hash__")
"""Operators with which an object itself decides what it equals."""
# fmt: off
OPERATORS = (
    *_COMPARED, "__len__", "__iter__", "__next__", "__reversed__", "__getitem__", "__setitem__", "__delitem__",
    "__call__", "__str__", "__repr__", "__format__", "__bytes__", "__bool__", "__int__", "__float__", "__complex__",
    "__index__", "__round__", "__trunc__", "__floor__", "__ceil__", "__neg__", "__pos__", "__abs__", "__invert__",
    "__enter__", "__exit__", "__aenter__", "__aexit__", "__aiter__", "__anext__", "__await__", "__fspath__",
    *(f"__{side}{name}__" for name in (
        "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and", "xor",
        "or",
    ) for side in ("", "r", "i")),
)
# fmt: on
SELF = frozenset({"__enter__", "__aenter__", "__iter__", "__aiter__"})
"""Operators that usually return the object itself."""
_NUMBER = "_Dressage__number"
_OF_ARRAYS = {f"__array_{name}__" for name in ("function", "ufunc", "wrap", "prepare", "finalize")}
"""Names by which NumPy lets an object compute what NumPy was asked for. The object has no say in that."""


def special(kind: type) -> list[str]:
    """Operators that a class defines in addition to those of ``object``."""
    found = []
    for name in OPERATORS:
        own = getattr(kind, name, None)
        if own is not None and own is not getattr(object, name, None) and (kind is not type or name == "__call__"):
            found.append(name)
    return found


def operate(value: Any, name: str, arguments: Sequence[Any]) -> Any:
    """Apply an operator as Python does."""
    if name not in OPERATORS:
        raise TypeError(f"no operator {name!r}")
    return getattr(type(value), name)(value, *arguments)


def number_of(value: Any) -> int | None:
    """The number under which the other side stores the object; None for objects of this side."""
    if isinstance(value, RemoteClass):
        return _FACTS[value].number if value in _FACTS else None
    kind = type(value)
    if isinstance(kind, RemoteClass):
        number: int = object.__getattribute__(value, _NUMBER)
        return number
    if kind is type and value in _ERROR_CLASSES:
        return _ERROR_CLASSES[value]
    if kind in _LIKES:
        like: int = value.__dict__[_NUMBER]
        return like
    if isinstance(value, BaseException) or kind in _REMEMBERED:
        return _REMOTE.get(id(value), (None, None))[0]
    return None


_LIKES: set[type] = set()
"""Classes of stand-ins that hold the content of an object whose class extends a builtin one."""
_REMOTE: dict[int, tuple[int | None, Any]] = {}
"""Stand-ins that are ordinary functions, generators and exceptions, by identity. Kept alive, so no id is reused."""


def _remember(value: Any, number: int) -> Any:
    _REMOTE[id(value)] = (number, value)
    return value


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """Facts about the stand-in of a class. They are no attributes of it: it may have any of its own."""

    peer: "Peer"
    number: int
    plain: type | None = None
    """The builtin class that it extends."""
    operators: frozenset[str] = frozenset()
    """Operators that it defines."""


_FACTS: dict[type, ClassFacts] = {}


def facts_of(stand_in: Any) -> ClassFacts:
    """Facts about the class of a stand-in."""
    return _FACTS[type(stand_in)]


class RemoteClass(type):
    """A class whose objects live in the other jail."""

    def __new__(mcs, name: str, bases: tuple[type, ...], space: dict[str, Any], ours: bool = False) -> "RemoteClass":
        if not ours:
            peer = next(_FACTS[base].peer for base in bases if base in _FACTS)
            reason = f"a test extends the program's class {bases[0].__name__}, which lives in a jail of its own"
            peer.doubt(reason)
            raise TypeError(reason)
        return super().__new__(mcs, name, bases, space)

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any], ours: bool = False) -> None:
        super().__init__(name, bases, space)

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        return _class_ask(cls, do="make", arguments=arguments, named=named)

    def __getattr__(cls, name: str) -> Any:
        if name == "__dataclass_fields__":
            return _fields(_class_ask(cls, do="fields"))
        if name in _OF_ARRAYS:
            raise AttributeError(name)
        return _class_ask(cls, do="attribute", name=name)

    def __setattr__(cls, name: str, value: Any) -> None:
        if name not in ("__abstractmethods__", "__parameters__"):
            _class_ask(cls, do="set", name=name, arguments=[value])

    def __iter__(cls) -> Any:
        return _class_ask(cls, do="operate", name="__iter__", arguments=[])

    def __len__(cls) -> Any:
        return _class_ask(cls, do="operate", name="__len__", arguments=[])

    def __bool__(cls) -> bool:
        return True

    def __getitem__(cls, key: Any) -> Any:
        return _class_ask(cls, do="operate", name="__getitem__", arguments=[key])

    def __contains__(cls, value: Any) -> bool:
        return bool(_class_ask(cls, do="operate", name="__contains__", arguments=[value]))


class RemoteObject(metaclass=RemoteClass, ours=True):
    """An object in the other jail. Attributes, methods and operators are requested from there."""

    __slots__ = (_NUMBER, "__weakref__")

    def __getattr__(self, name: str) -> Any:
        if name == "__dataclass_fields__" or name in _OF_ARRAYS:
            return getattr(type(self), name)
        return _ask(self, do="attribute", name=name)

    def __setattr__(self, name: str, value: Any) -> None:
        _ask(self, do="set", name=name, arguments=[value])

    def __delattr__(self, name: str) -> None:
        _ask(self, do="delete", name=name)

    def __copy__(self) -> Any:
        return _ask(self, do="copy")

    def __deepcopy__(self, known: Any) -> Any:
        return _ask(self, do="deepcopy")

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _restored, (_ask(self, do="reduce", arguments=[int(protocol)]),)


def _restored(data: bytes) -> Any:
    """A copy of an object of the other side, which has written ``data`` and reads it: it stays in that jail."""
    return next(iter(_FACTS.values())).peer.ask(do="restore", arguments=[data])


def _fields(described: Sequence[Any]) -> dict[str, Any]:
    """Fields of a dataclass, as the functions of ``dataclasses`` look for them."""
    import dataclasses

    found = {}
    for name, kind, init in described:
        field: Any = dataclasses.field(init=init)
        field.name, field.type, field._field_type = name, kind, dataclasses._FIELD  # type: ignore[attr-defined]
        found[str(name)] = field
    return found


def _ask(target: Any, **request: Any) -> Any:
    return facts_of(target).peer.ask(of=object.__getattribute__(target, _NUMBER), **request)


def _class_ask(kind: RemoteClass, **request: Any) -> Any:
    facts = _FACTS[kind]
    return facts.peer.ask(of=facts.number, **request)


def make(peer: "Peer", number: int, description: Mapping[str, Any]) -> Any:
    """The stand-in of an object that the other side describes."""
    match description["is"]:
        case "class":
            return _class(peer, number, description)
        case "function":
            return _remember(_function(peer, number, description), number)
        case "generator":
            return _remember(_generator(peer, number), number)
        case "iterator":
            return _remember(_Iterator(peer, number), number)
        case "coroutine":
            return _coroutine(peer, number)
        case "async_generator":
            return _async_generator(peer, number)
        case "object":
            return _object(peer, number, description)
    raise ValueError("the other side describes nothing")


def _object(peer: "Peer", number: int, description: Mapping[str, Any]) -> Any:
    kind = peer.decode(description["class"])
    if not isinstance(kind, RemoteClass):
        kind = _class(peer, -1, {"name": "object", "bases": [], "special": [], "methods": []})
    made = object.__new__(kind)
    object.__setattr__(made, _NUMBER, number)
    if "plain" in description and not peer.trusts(made):
        return _like(peer, kind.__name__, number, peer.decode(description["plain"]))
    return made


def _like(peer: "Peer", name: str, number: int, content: Any) -> Any:
    """The content of an object whose class extends a builtin one. What else it has is requested from there.

    Operators and the builtin's own methods work on the content: the object itself has no say in what it equals.
    """
    base = type(content)

    def attribute(self: Any, wanted: str) -> Any:
        if wanted[:2] == "__":
            raise AttributeError(wanted)
        return peer.ask(do="attribute", of=number, name=wanted)

    kind = type(name, (base,), {"__module__": "solution", "__getattr__": attribute})
    _LIKES.add(kind)
    made = base.__new__(kind, *([content] if base not in (list, dict, set) else []))
    if base is list or base is set or base is dict:
        base.__init__(made, content)
    made.__dict__[_NUMBER] = number
    peer.mirrors.follow(f"o{number}", made)
    return made


def _class(peer: "Peer", number: int, description: Mapping[str, Any]) -> type:
    name, bases = str(description["name"]), [peer.decode(base) for base in description["bases"]]
    bases = [base for base in bases if isinstance(base, type)]
    space: dict[str, Any] = {"__module__": "solution", "__doc__": description.get("doc")}
    if any(issubclass(base, BaseException) for base in bases):
        errors = tuple(base for base in bases if issubclass(base, BaseException) and peer.admits(base))
        return _remember_class(type(name, errors or (CandidateFailedError,), {**space, **_ERROR}), number)
    own = [base for base in bases if not isinstance(base, RemoteClass)]
    plain = next((base for base in own if base in BASES), None)
    plain = plain or next((_FACTS[base].plain for base in bases if base in _FACTS and _FACTS[base].plain), None)
    space["__slots__"] = ()
    builtin = () if plain is None else (plain,)
    if plain is not None or description.get("enum"):  # isinstance with the builtin class, or Enum, is also true
        like = types.new_class(name, (*builtin, enum.Enum)) if description.get("enum") else type(name, builtin, {})
        space["__class__"] = property(lambda self: like)
    for method in description["methods"]:
        space[str(method)] = _method(str(method), str(method) in description.get("abstract", ()))
    known = set(OPERATORS) & set(map(str, description["special"]))
    remote = tuple(base for base in bases if isinstance(base, RemoteClass)) or (RemoteObject,)
    made = RemoteClass(name, remote, space, ours=True)
    _FACTS[made] = ClassFacts(peer, number, plain, frozenset(known))
    for base in own:
        if isinstance(base, abc.ABCMeta):  # isinstance and issubclass with it are also true
            base.register(made)  # type: ignore[arg-type]
    if abstract := frozenset(map(str, description.get("abstract", ()))):
        type.__setattr__(made, "__abstractmethods__", abstract)
    for operator in known:
        type.__setattr__(made, operator, _operator(operator, plain))
    if "__eq__" in known and "__hash__" not in known:
        type.__setattr__(made, "__hash__", None)
    return made


def _remember_class(kind: type, number: int) -> type:
    _ERROR_CLASSES[kind] = number
    return kind


_ERROR_CLASSES: dict[type, int] = {}


def _method(name: str, abstract: bool) -> Callable[..., Any]:
    def method(self: Any, *arguments: Any, **named: Any) -> Any:
        return _ask(self, do="method", name=name, arguments=arguments, named=named)

    def reduce(self: Any, *arguments: Any, **named: Any) -> Any:
        siblings = facts_of(self).peer.siblings
        if not siblings.knows(self, number_of):
            return method(self, *arguments, **named)
        return siblings.computed(self, name, arguments, lambda one, *more: method(one, *more, **named), number_of)

    chosen: Any = reduce if name in REDUCTIONS else method
    chosen.__name__ = name
    if abstract:
        chosen.__isabstractmethod__ = True
    return chosen


def _operator(name: str, plain: type | None) -> Callable[..., Any]:
    def forward(self: Any, *arguments: Any, **named: Any) -> Any:
        if name in ("__exit__", "__aexit__"):
            arguments = (*arguments[:2], None)  # a traceback does not cross
        return _ask(self, do="operate", name=name, arguments=arguments, **({"named": named} if named else {}))

    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        return _ask(self, do="call", arguments=arguments, named=named)

    def ask(self: Any, value: Any, operator: str = name) -> Any:
        return _ask(self, do="operate", name=operator, arguments=[value])

    def compare(self: Any, *arguments: Any) -> Any:
        if name == "__hash__":
            return hash(forward(self))
        if number_of(arguments[0]) is not None:  # among its own objects, a program claims no more than numbers could
            return forward(self, *arguments)
        if plain is not None:
            return getattr(plain, name)(_ask(self, do="plain"), *arguments)
        facts = facts_of(self)
        if facts.peer.trusts(None):
            said = forward(self, *arguments)
            return said if said is NotImplemented else said is True
        said = believing.compared(facts.peer, self, name, arguments[0], facts.operators, ask)
        if said is True and not facts.peer.siblings.tell_apart(self, lambda one: ask(one, arguments[0]), number_of):
            facts.peer.doubt(
                f"a test compares the result of arithmetic with the program's class {type(self).__name__} with a plain "
                "value: only the program could say how they compare"
            )
            return False
        return said

    def compute(self: Any, *arguments: Any) -> Any:
        peer = facts_of(self).peer
        if peer.trusts(None):
            return forward(self, *arguments)
        return peer.siblings.computed(self, name, arguments, forward, number_of)

    others = compare if name in _COMPARED else compute if name in WATCHED else forward
    chosen = call if name == "__call__" else others
    chosen.__name__ = name
    return chosen


def _function(peer: "Peer", number: int, description: Mapping[str, Any]) -> Any:
    if description.get("async"):

        async def call_later(*arguments: Any, **named: Any) -> Any:
            found = peer.ask(do="call", of=number, arguments=arguments, named=named)
            return await found if hasattr(found, "__await__") else found

        return _dressed(call_later, description)

    def call(*arguments: Any, **named: Any) -> Any:
        return peer.ask(do="call", of=number, arguments=arguments, named=named)

    return _dressed(RemoteFunction(peer, number, call), description)


class RemoteFunction:
    """A function in the other jail."""

    def __init__(self, peer: "Peer", number: int, call: Callable[..., Any]) -> None:
        self.__dict__.update(_peer=peer, _number=number, _call=call)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._call(*arguments, **named)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name: str) -> Any:
        if name in ("__wrapped__", "__text_signature__"):
            raise AttributeError(name)
        return self._peer.ask(do="attribute", of=self._number, name=name)


def _dressed(function: Any, description: Mapping[str, Any]) -> Any:
    name = str(description["name"])
    function.__name__ = name if name.isidentifier() else "function"
    function.__qualname__ = function.__name__
    function.__doc__ = description.get("doc")
    parameters = description.get("parameters")
    if isinstance(parameters, list) and isinstance(function, RemoteFunction):
        made = [inspect.Parameter(str(one), _KINDS[kind], default=None if default else inspect.Parameter.empty)
                for one, kind, default in parameters]  # fmt: skip
        signature = inspect.Signature(made)
        names = tuple(one.name for one in made if one.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD)
        code = types.SimpleNamespace(co_argcount=len(names), co_varnames=names, co_flags=0)
        function.__dict__.update(__signature__=signature, __code__=code)
    return function


_KINDS = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD,
)


def _generator(peer: "Peer", number: int) -> Iterator[Any]:
    sent = None
    try:
        while True:
            try:
                value = peer.ask(do="send", of=number, arguments=[sent])
            except StopIteration as end:
                return end.value
            sent = yield value
    except GeneratorExit:
        peer.ask(do="close", of=number)
        raise


class _Iterator:
    def __init__(self, peer: "Peer", number: int) -> None:
        self._peer, self._number = peer, number

    def __iter__(self) -> "_Iterator":
        return self

    def __next__(self) -> Any:
        return self._peer.ask(do="operate", of=self._number, name="__next__", arguments=[])


_REMEMBERED = (type(lambda: None), types.GeneratorType, RemoteFunction, _Iterator)


async def _coroutine(peer: "Peer", number: int) -> Any:
    return peer.ask(do="await", of=number)


async def _async_generator(peer: "Peer", number: int) -> AsyncIterator[Any]:
    while True:
        try:
            value = peer.ask(do="next_awaited", of=number)
        except StopAsyncIteration:
            return
        yield value


def awaited(value: Any) -> Any:
    """Result of an awaitable, whether or not a loop is running in this thread."""
    import asyncio  # slow to load, and few programs need it

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _loop().run_until_complete(_await(value))
    found: list[Any] = []

    def run() -> None:
        try:
            found.append((True, asyncio.run(_await(value))))
        except BaseException as error:
            found.append((False, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    ((right, result),) = found
    if not right:
        raise result
    return result


async def _await(value: Any) -> Any:
    return await value


@functools.cache
def _loop() -> Any:
    import asyncio

    return asyncio.new_event_loop()


def _error_text(self: Any) -> str:
    text = self.__dict__.get("_remote_text")
    return BaseException.__str__(self) if text is None else str(text)


def _error_attribute(self: Any, name: str) -> Any:
    found = _REMOTE.get(id(self))
    peer = self.__dict__.get("_remote_peer")
    if found is None or peer is None or name[:2] == "__":
        raise AttributeError(name)
    return peer.ask(do="attribute", of=found[0], name=name)


_ERROR: dict[str, Any] = {"__str__": _error_text, "__getattr__": _error_attribute}


def error(kind: Any, arguments: list[Any], text: str, peer: "Peer", number: int) -> BaseException:
    """The stand-in of an exception."""
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        kind = CandidateFailedError
    if not peer.admits(kind):
        kind, arguments = CandidateFailedError, [f"{kind.__name__}: {text}"]
    try:
        made = kind.__new__(kind, *arguments) if kind in _ERROR_CLASSES else _built(kind, arguments)
        made.args = tuple(arguments)
        if kind in _ERROR_CLASSES:
            made.__dict__.update(_remote_text=text, _remote_peer=peer)
    except Exception:
        made = CandidateFailedError(f"{kind.__name__}: {text}")
    found: BaseException = _remember(made, number)
    return found


def _built(kind: Any, arguments: list[Any]) -> Any:
    try:
        return kind(*arguments)
    except TypeError:  # json.JSONDecodeError and others require more arguments than they store
        made = kind.__new__(kind, *arguments)
        made.__dict__.update(msg=str(arguments[0]) if arguments else "")
        return made


def failure(error: BaseException) -> BaseException:
    """The other side's ``error`` as an ordinary failure."""
    made = CandidateFailedError(f"{type(error).__name__}: {error}")
    found: BaseException = _remember(made, number_of(error) or 0)
    return found


class CandidateFailedError(Exception):
    """The other side raised something that is not an ordinary exception, or is gone."""
