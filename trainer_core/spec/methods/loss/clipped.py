"""The weight of a token under PPO's clip."""


def clipped(ratio: float, sign: int, lowest: float, highest: float) -> float:
    """The ratio; 0 beyond the edge of the band that an advantage of this sign pushes towards."""
    return 0.0 if (ratio > highest if sign > 0 else ratio < lowest) else ratio
