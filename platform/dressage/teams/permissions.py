"""Permissions that do not follow from a role."""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from dressage.teams.models import User


class IsSignedIn(BasePermission):
    """A person in a browser; not a token."""

    message = "This needs a browser session."

    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.user, User)
