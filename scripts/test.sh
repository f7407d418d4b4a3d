#!/usr/bin/env bash
# Runs every test: Python, the console's units, and the product in a real browser.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.node/bin:$PATH" OMP_NUM_THREADS=1
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[ -n "$chromium" ] || { echo "No Chromium was found. Install it, or set CHROMIUM=/path/to/chromium." >&2; exit 1; }
export CHROMIUM="$chromium"
(cd frontend && npm run --silent test)
# Two processes: while one trains, on a cluster and then in an installation, the other does what needs a single core.
exec .venv/bin/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder "$@"
