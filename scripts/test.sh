#!/usr/bin/env bash
# Runs the tests: the console's units, then Python, with the product in a real browser.
# Usage: scripts/test.sh [long] [arguments of pytest]
#   long   everything, not only what a change touches; then loud tests, alone. Writes tests/costs.json and
#          tests/passed.json. Without it: what make test and CI run, see docs/development/testing.md.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.node/bin:$PATH" OMP_NUM_THREADS=1
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[ -n "$chromium" ] || { echo "No Chromium was found. Install it, or set CHROMIUM=/path/to/chromium." >&2; exit 1; }
export CHROMIUM="$chromium"
tier=(--tier change)
if [ "${1:-}" = long ]; then
  shift
  tier=(--tier long --record --costs tests/costs.json)
fi
(cd frontend && npm run --silent test)
# Two processes: while one trains, on a cluster and then in an installation, the other does what needs a single core.
# One that dies ends the run: what it was to run would never be run.
both=(-n 2 --dist loadscope --no-loadscope-reorder --max-worker-restart 0)
if [ "${tier[1]}" = change ]; then
  exec .venv/bin/python -m pytest "${both[@]}" "${tier[@]}" "$@"
fi
status=0
.venv/bin/python -m pytest "${both[@]}" "${tier[@]}" "$@" || status=$?
loud=0
.venv/bin/python -m pytest --tier loud "$@" || loud=$?
[ "$loud" = 5 ] && loud=0 # none of the named files is loud
exit $((status > loud ? status : loud))
