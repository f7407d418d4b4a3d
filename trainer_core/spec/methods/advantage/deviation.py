"""Standard deviations, as advantages name them."""

from typing import Literal

Deviation = Literal["population", "sample"]
"""Which standard deviation divides: with n or with n − 1 in the denominator."""
