"""Least squares for times: neither a fixed cost nor a cost per piece is ever negative."""

from collections.abc import Sequence


def line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Fit seconds = fixed + per_piece · pieces with both at least 0, and per_piece above 0.

    Args:
        points: (pieces, seconds), at least one with pieces and seconds above 0.

    Returns:
        (fixed, per_piece). If the pieces hardly differ, a fixed cost cannot be determined and is 0.
    """
    count = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    through_zero = sum(x * y for x, y in points) / sum(x * x for x, _ in points)
    if spread <= count * (0.02 * mean_x) ** 2:
        return 0.0, through_zero
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    fixed = mean_y - slope * mean_x
    if fixed < 0.0 or slope <= 0.0:
        return 0.0, through_zero
    return fixed, slope
