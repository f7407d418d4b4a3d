"""Actor of an action: a person, an API token, a guard of a run, or the system itself."""

from dataclasses import dataclass
from typing import Literal, Self

ActorKind = Literal["user", "token", "guard", "policy", "system"]


@dataclass(frozen=True, slots=True)
class Actor:
    """The author of a change, as the audit log and the history of a run record it."""

    kind: ActorKind
    id: str
    """Id of the user or token; a name for the other kinds."""
    name: str
    """Name for readers: an e-mail address, or the name of the token or guard."""

    @property
    def label(self) -> str:
        """One string for lists: the e-mail address, else ``kind:name``."""
        return self.name if self.kind == "user" else f"{self.kind}:{self.name}"

    @classmethod
    def system(cls, name: str) -> Self:
        """A part of the platform that acts by itself, such as the reconciler."""
        return cls("system", name, name)
