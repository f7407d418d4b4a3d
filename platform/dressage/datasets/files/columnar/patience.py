"""Decides which blocks to try. Pauses for some blocks if the last ones all had to be read row by row."""

_FIRST, _MOST = 8, 512


class Patience:
    """Tracks the results of blocks. After several losses it skips some blocks, next time twice as many, and so on."""

    def __init__(self) -> None:
        self._losses = 0
        self._pause = _FIRST
        self._left = 0

    def tries(self) -> bool:
        """Whether to try the next block."""
        return not self._left

    def reward(self) -> None:
        """Record a block that was taken."""
        self._losses, self._pause = 0, _FIRST

    def lose(self) -> None:
        """Record a block that was read row by row, whether it was tried or not."""
        if self._left:
            self._left -= 1
            return
        self._losses += 1
        if self._losses == _FIRST:
            self._losses, self._left = 0, self._pause
            self._pause = min(2 * self._pause, _MOST)
