"""A validator of Django's kind, for the settings."""

import itertools
from typing import Any

from django.core.exceptions import ValidationError

MIN_DISTINCT = 5


class PlainPatternValidator:
    """Refuses what has few different characters, or is one run up or down the alphabet or the digits."""

    def validate(self, password: str, user: Any = None) -> None:
        """Raise ValidationError for such a password."""
        if len(set(password)) < MIN_DISTINCT:
            raise ValidationError(
                f"This password has fewer than {MIN_DISTINCT} different characters.", code="password_too_plain"
            )
        steps = {ord(later) - ord(earlier) for earlier, later in itertools.pairwise(password)}
        if steps <= {1, -9} or steps <= {-1, 9}:  # after 9 comes 0 again
            raise ValidationError("This password is a plain sequence of characters.", code="password_too_plain")

    def get_help_text(self) -> str:
        """Say the rule."""
        return f"Your password must have at least {MIN_DISTINCT} different characters."
