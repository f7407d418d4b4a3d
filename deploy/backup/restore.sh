#!/usr/bin/env bash
# Restores a back-up into an empty database and an empty data folder. Usage: restore.sh BACKUP
#   DATABASE_URL   a PostgreSQL database without tables
#   DRESSAGE_HOME  a data folder that is empty or not there yet
# Stop the installation before, and run `manage.py migrate` after: a newer release then upgrades what was restored.
set -euo pipefail
umask 077
backup=${1:?usage: restore.sh BACKUP, the folder of one back-up}
: "${DATABASE_URL:?set DATABASE_URL to the address of PostgreSQL}" "${DRESSAGE_HOME:?set DRESSAGE_HOME to the data folder}"
stop() { echo "restore.sh: $*" >&2; exit 1; }
[ -f "$backup/SHA256SUMS" ] || stop "$backup is no back-up: it has no SHA256SUMS."
(cd "$backup" && sha256sum --check --quiet SHA256SUMS) || stop "$backup is damaged; take another one."
tables=$(psql --no-psqlrc --tuples-only --no-align --dbname="$DATABASE_URL" \
  --command="SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
[ "$tables" = 0 ] || stop "the database has $tables tables; make an empty one and name it in DATABASE_URL."
mkdir -p "$DRESSAGE_HOME"
[ -z "$(find "$DRESSAGE_HOME" -mindepth 1 -maxdepth 1 ! -name lost+found -print -quit)" ] ||
  stop "$DRESSAGE_HOME is not empty; name an empty folder in DRESSAGE_HOME."
pg_restore --no-owner --no-privileges --exit-on-error --single-transaction --dbname="$DATABASE_URL" "$backup/database.dump"
tar --extract --gzip --file="$backup/home.tar.gz" --directory="$DRESSAGE_HOME" --no-same-owner
echo "Restored $backup."
