"""``python -m dressage_sdk``: the command ``dressage``."""

import sys

from dressage_sdk.cli import main

if __name__ == "__main__":
    sys.exit(main())
