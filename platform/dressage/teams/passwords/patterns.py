"""A password validator in Django's form, for the settings."""

import itertools
from typing import Any

from django.core.exceptions import ValidationError

MIN_DISTINCT = 5


class PlainPatternValidator:
    """Refuses passwords with few different characters, or with a single run up or down the alphabet or the digits."""

    def validate(self, password: str, user: Any = None) -> None:
        """Raise ValidationError for such a password."""
        if len(set(password)) < MIN_DISTINCT:
            raise ValidationError(
                f"This password has fewer than {MIN_DISTINCT} different characters.", code="password_too_plain"
            )
        steps = {ord(later) - ord(earlier) for earlier, later in itertools.pairwise(password)}
        if steps <= {1, -9} or steps <= {-1, 9}:  # 0 follows 9
            raise ValidationError("This password is a plain sequence of characters.", code="password_too_plain")

    def get_help_text(self) -> str:
        """State the rule."""
        return f"Your password must have at least {MIN_DISTINCT} different characters."
