"""What an importance ratio is taken over."""

from typing import Literal

Level = Literal["token", "sequence"]
"""One ratio per token, or their product over the completion."""
