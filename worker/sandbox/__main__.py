"""``python -m worker.sandbox``: reports whether this machine has a strong jail, and if not, why."""

import sys

from worker.sandbox.capability import check

found = check()
print(found.reason)
sys.exit(0 if found.available else 1)
