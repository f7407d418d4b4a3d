"""``python -m worker.cluster.reach ADDRESS``: whether the Ray cluster there can be joined; a sentence and 1 if not."""

import sys

from worker.cluster.measuring import gcs_address, open_gcs
from worker.errors import ClusterError


def main(address: str) -> int:
    """The exit status."""
    try:
        open_gcs(gcs_address(address))
    except ClusterError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
