#!/usr/bin/env bash
# Says for which accelerator torch and vLLM are installed on this machine: cpu or cuda. ACCELERATOR names one.
set -euo pipefail
stop() { printf '\033[31m✗ %s\033[0m\n' "$*" >&2; exit 1; }
case ${ACCELERATOR:-auto} in
  cpu | cuda)
    echo "$ACCELERATOR"
    ;;
  auto)
    if ! gpus=$(nvidia-smi -L 2>/dev/null) || ! grep -q '^GPU 0' <<< "$gpus"; then
      echo cpu
    elif [ "$(uname -m)" != x86_64 ]; then
      printf '! requirements/cuda.lock is for x86_64, and this is %s: models compute on CPUs.\n' "$(uname -m)" >&2
      echo cpu
    else
      echo cuda
    fi
    ;;
  *) stop "ACCELERATOR is cpu or cuda, not $ACCELERATOR." ;;
esac
