#!/usr/bin/env bash
# Runs a tool of the console on files named from the repository's root: scripts/in_frontend.sh TOOL [option …] file …
set -euo pipefail
cd "$(dirname "$0")/../frontend"
export PATH="$PWD/../.node/bin:$PWD/../.venv/bin:$PATH"
tool=$1
shift
exec "node_modules/.bin/$tool" "${@#frontend/}"
