#!/bin/sh
# Compiles the CUDA code if nvcc is found, with or without a GPU; otherwise says that it does not.
set -eu
cd "$(dirname "$0")/.."
if ! command -v nvcc >/dev/null && ! [ -x /usr/local/cuda/bin/nvcc ]; then
  echo "== no nvcc: the CUDA code is not compiled"
  exit 0
fi
echo "== the CUDA code compiles"
cmake --preset cuda-check >/dev/null
cmake --build --preset cuda-check
