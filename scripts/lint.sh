#!/usr/bin/env bash
# Every static check; the first that fails stops.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.node/bin:$PWD/.venv/bin:$PATH"
say() { printf '\033[1m• %s\033[0m\n' "$*"; }
say "ruff"; ruff check .; ruff format --check --quiet .
say "mypy"; mypy
say "import-linter"; lint-imports --no-cache 2>&1 | tail -n 12
say "migrations"; python manage.py makemigrations --check --dry-run
say "OpenAPI"; python manage.py spectacular --validate --fail-on-warn --format openapi-json | diff -q - frontend/openapi.json ||
  { echo "frontend/openapi.json is not what the code says: run 'npm run api' in frontend/ and commit" >&2; exit 1; }
say "console"; cd frontend && npm run --silent typecheck && npm run --silent lint
say "clean"
