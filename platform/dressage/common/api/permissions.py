"""Roles and scopes as REST framework permissions.

A method without a rule is for admins, and an endpoint without a noun is for people only: forgetting one never grants
access.
"""

from typing import Any, ClassVar

from rest_framework.permissions import SAFE_METHODS, AllowAny, BasePermission
from rest_framework.request import Request

from dressage.common.api.problems import Problem
from dressage.common.roles import Role
from dressage.common.scopes import Noun, Scope, covers, scope_for

__all__ = [
    "AllowAny",
    "HasScope",
    "IsAdmin",
    "IsEditor",
    "IsOperator",
    "IsViewer",
    "RoleByMethod",
    "RolePermission",
    "has_scopes",
    "require_scope",
]


_MISSING = "missing_scope"


class RolePermission(BasePermission):
    """The caller's role in the request's team includes ``role``."""

    role: ClassVar[Role] = Role.ADMIN

    def has_permission(self, request: Request, view: Any) -> bool:
        held = getattr(request, "role", None)
        self.message = f"This needs the role {self.role.value}."
        return held is not None and held.covers(self.role)


class IsViewer(RolePermission):
    role = Role.VIEWER


class IsEditor(RolePermission):
    role = Role.EDITOR


class IsOperator(RolePermission):
    role = Role.OPERATOR


class IsAdmin(RolePermission):
    role = Role.ADMIN


class HasScope(BasePermission):
    """Whether the caller's token, if it is one, has the scope that the operation needs."""

    code: str | None = None

    def has_permission(self, request: Request, view: Any) -> bool:
        actor = getattr(request, "actor", None)
        if actor is None or actor.kind != "token":
            return True
        needed = view.needed_scope(request.method or "")
        if needed is None:
            self.code, self.message = "people_only", "API tokens cannot do this: sign in to the console for it."
            return False
        self.code, self.message = _MISSING, _missing(needed)
        return covers(getattr(request, "scopes", ()), needed)


def require_scope(request: Request, needed: Scope) -> None:
    """Refuse a token that lacks an additional scope: for operations that also show data of another noun.

    Raises:
        Problem: 403 that names the scope.
    """
    if not covers(getattr(request, "scopes", ()), needed):
        raise Problem(403, "Not allowed", _missing(needed), code=_MISSING)


def has_scopes(request: Request, *needed: Scope) -> bool:
    """Whether the caller holds additional scopes; people hold all of them."""
    return all(covers(getattr(request, "scopes", ()), scope) for scope in needed)


def _missing(needed: Scope) -> str:
    return f"This needs a token with the scope {needed.value}."


class RoleByMethod:
    """Mixin for views: ``roles = {"POST": IsEditor}``. Reading needs a viewer unless the view says otherwise."""

    roles: ClassVar[dict[str, type[BasePermission]]] = {}
    noun: ClassVar[Noun | None] = None
    """The noun that a token needs a scope for; None for people only."""
    people_only: ClassVar[frozenset[str]] = frozenset()
    """Methods for people only, on endpoints whose other methods have a noun."""
    request: Request

    def get_permissions(self) -> list[BasePermission]:
        method = self.request.method or ""
        if not hasattr(self, method.lower()):
            return [AllowAny()]  # nobody may: answered with 405
        role = self._role(method)
        return [role()] if role is AllowAny else [role(), HasScope()]

    def needed_scope(self, method: str) -> Scope | None:
        """The scope that a token needs for a method; None if it is for people only.

        Anything that viewers may do counts as reading, whatever its method: a spec is checked by POST.
        """
        if self.noun is None or method in self.people_only:
            return None
        return scope_for(self.noun, write=self._role(method) is not IsViewer and method not in SAFE_METHODS)

    def _role(self, method: str) -> type[BasePermission]:
        return self.roles.get(method, IsViewer if method in SAFE_METHODS else IsAdmin)
