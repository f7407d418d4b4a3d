"""Sums of values by SQL, where neither the largest floats nor those that are not finite spoil a mean."""

FINITE = "value > '-Infinity' AND value < 'Infinity'"
"""PostgreSQL sorts NaN above infinity."""
SCALE = 2.0**-40
"""Values are summed on this scale (an exact one), so that even the largest floats cannot overflow the sum."""
