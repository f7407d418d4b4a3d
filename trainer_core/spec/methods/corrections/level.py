"""Level over which an importance ratio is taken."""

from typing import Literal

Level = Literal["token", "sequence"]
"""One ratio per token, or their product over the completion."""
