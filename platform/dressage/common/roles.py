"""The four roles. Each may do everything that the previous ones may."""

from django.db import models


class Role(models.TextChoices):
    """Role: what a member or a token may do in its team."""

    VIEWER = "viewer", "Viewer: reads everything"
    EDITOR = "editor", "Editor: creates datasets, rewards, policies and draft runs"
    OPERATOR = "operator", "Operator: starts, stops and steers runs"
    ADMIN = "admin", "Admin: manages members, tokens and reads the audit log"

    def covers(self, required: "Role") -> bool:
        """Whether this role includes ``required``."""
        order = list(Role)
        return order.index(self) >= order.index(required)
