"""Names in ``reward_parts`` that come from the run's shaping, not from a component of the reward definition."""

OVERLONG_PART = "overlong"
LENGTH_PART = "length_shaping"
"""Name of the part that length shaping adds; not ``length``, which is a usual name of components."""

OUTLIER_PART = "outlier"
"""Name of the part that an answer cut short for its length has lost."""

SHAPING_PARTS = (OVERLONG_PART, LENGTH_PART, OUTLIER_PART)
"""Parts that say nothing about whether an answer is right."""
