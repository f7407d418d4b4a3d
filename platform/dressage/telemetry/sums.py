"""Sums of values by SQL, in which neither the largest floats nor non-finite values spoil a mean."""

FINITE = "value > '-Infinity' AND value < 'Infinity'"
"""PostgreSQL sorts NaN above infinity."""
SCALE = 2.0**-40
"""Values are summed on this exact scale, so that even the largest floats cannot overflow the sum."""
