"""``python -m worker.cluster.reach ADDRESS``: checks whether the Ray cluster there can be joined. Exits with 1 and a
reason if not."""

import sys

from worker.cluster.measuring import gcs_address, open_gcs
from worker.errors import ClusterError


def main(address: str) -> int:
    """Check the cluster at ``address``. Returns the exit status."""
    try:
        open_gcs(gcs_address(address))
    except ClusterError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
