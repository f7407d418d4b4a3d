#!/usr/bin/env bash
# Backs an installation up: its database, then its data folder, into FOLDER/<time>. Usage: backup.sh FOLDER
#   DATABASE_URL   the installation's PostgreSQL
#   DRESSAGE_HOME  the data folder
#   BACKUPS_KEPT   back-ups that stay, the newest (default 7)
# The dump comes first: files that it speaks of are written before their rows, so the archive has all of them but what
# was deleted in between. Each back-up has the installation's keys in it: keep it as you keep them.
set -euo pipefail
umask 077
folder=${1:?usage: backup.sh FOLDER}
: "${DATABASE_URL:?set DATABASE_URL to the address of PostgreSQL}" "${DRESSAGE_HOME:?set DRESSAGE_HOME to the data folder}"
kept=${BACKUPS_KEPT:-7}
name=$(date -u +%Y%m%dT%H%M%SZ)
part="$folder/.part-$name-$$"
mkdir -p "$part"
trap 'rm -rf "$part"' EXIT
pg_dump --format=custom --no-owner --no-privileges --file="$part/database.dump" "$DATABASE_URL"
# What servers keep for themselves is not copied: the dump has the database, and Redis only wakes.
status=0
tar --create --gzip --file="$part/home.tar.gz" --directory="$DRESSAGE_HOME" --warning=no-file-changed \
  --exclude=./postgres --exclude=./redis --exclude=./static --exclude='./*.lock' --exclude='./beat-schedule*' \
  --exclude='*.part' . || status=$?
# 1: a file changed while it was read, such as the log of a run at work; its run goes on from a checkpoint.
[ "$status" -le 1 ] || { echo "backup.sh: tar has failed with status $status; nothing was kept" >&2; exit "$status"; }
(cd "$part" && sha256sum database.dump home.tar.gz > SHA256SUMS)
mv "$part" "$folder/$name"
trap - EXIT
find "$folder" -mindepth 1 -maxdepth 1 -type d -name '[0-9]*T[0-9]*Z' | sort -r | tail -n "+$((kept + 1))" |
  while IFS= read -r old; do rm -rf "$old"; done
echo "$folder/$name"
