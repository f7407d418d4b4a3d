#!/usr/bin/env bash
# Makes .venv-trl: TRL's own packages, over the torch, transformers and vLLM that Dressage uses, so that both sides
# of the comparison run on the same builds.
set -euo pipefail
cd "$(dirname "$0")/../../.."
[ -x .venv-trl/bin/python ] || .venv/bin/python -m venv .venv-trl
.venv/bin/python -c 'import site; print(site.getsitepackages()[0])' > .venv-trl/lib/python3.11/site-packages/dressage.pth
.venv-trl/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r tests/bench/peer_trl/requirements.lock
