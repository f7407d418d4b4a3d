"""Choice of blocks that are worth a try: none for a while where the last ones were all read row by row in the end."""

_FIRST, _MOST = 8, 512


class Patience:
    """Counts what became of blocks. After losses in a row it lets some pass, then twice as many, and so on."""

    def __init__(self) -> None:
        self._losses = 0
        self._pause = _FIRST
        self._left = 0

    def tries(self) -> bool:
        """Whether the next block is worth a try."""
        return not self._left

    def reward(self) -> None:
        """Note a block that was taken."""
        self._losses, self._pause = 0, _FIRST

    def lose(self) -> None:
        """Note a block that was read row by row, with or without a try."""
        if self._left:
            self._left -= 1
            return
        self._losses += 1
        if self._losses == _FIRST:
            self._losses, self._left = 0, self._pause
            self._pause = min(2 * self._pause, _MOST)
