"""``python -m worker.sandbox``: says whether this machine has a strong jail, and why not."""

import sys

from worker.sandbox.capability import check

found = check()
print(found.reason)
sys.exit(0 if found.available else 1)
