"""Roles as REST framework permissions. A method without a rule is for admins: forgetting one refuses, never grants."""

from typing import Any, ClassVar

from rest_framework.permissions import SAFE_METHODS, AllowAny, BasePermission
from rest_framework.request import Request

from dressage.common.roles import Role

__all__ = ["AllowAny", "IsAdmin", "IsEditor", "IsOperator", "IsViewer", "RoleByMethod", "RolePermission"]


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


class RoleByMethod:
    """Mixin for views: ``roles = {"POST": IsEditor}``. Reading needs a viewer unless the view says otherwise."""

    roles: ClassVar[dict[str, type[BasePermission]]] = {}
    request: Request

    def get_permissions(self) -> list[BasePermission]:
        method = self.request.method or ""
        if not hasattr(self, method.lower()):
            return [AllowAny()]  # nobody may: the answer is 405
        fallback = IsViewer if method in SAFE_METHODS else IsAdmin
        return [self.roles.get(method, fallback)()]
