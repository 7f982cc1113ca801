#!/usr/bin/env bash
# LibTorch's at::parallel_for silently runs on one thread in every file that is compiled without -fopenmp.
#
# Surprising: the thread pool is in libtorch_cpu.so, at::get_num_threads() returns the number that was set, and everything
# compiles and links. But parallel_for is a template: its loop over threads is compiled where it is called, between #ifdef
# _OPENMP and #endif. Without the flag, a single call with the whole range remains.
#
# Version: torch 2.11.0 (PyPI, x86-64), g++ 12.2 (Debian 12).
# Seen, for at::set_num_threads(4) and a range of 1000 with a grain of 1:
#     without -fopenmp: at::get_num_threads() is 4, threads that took part: 1
#     with -fopenmp:    at::get_num_threads() is 4, threads that took part: 4
# Source: ATen/ParallelOpenMP.h of the package, lines 9 to 55, included by ATen/Parallel.h.
# Ours: cmake/FindLibTorch.cmake passes -fopenmp to all targets that use LibTorch. tests/core/operators/dense_test.cpp
# compares one thread with three, which would also pass if only one were used: none of our tests counts threads.
set -euo pipefail
dpkg-query --show g++ >/dev/null 2>&1 || { echo "Debian's package g++ is needed: apt-get install g++"; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --root-user-action=ignore --no-deps --no-compile --target "$folder/packages" \
    torch==2.11.0 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
torch=$folder/packages/torch

cat >"$folder/count.cpp" <<'C'
#include <ATen/Parallel.h>

#include <cstdint>
#include <iostream>
#include <mutex>
#include <set>
#include <thread>

int main() {
    at::set_num_threads(4);
    std::mutex mutex;
    std::set<std::thread::id> seen;
    at::parallel_for(0, 1000, 1, [&](std::int64_t, std::int64_t) {
        const std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
    });
    std::cout << "at::get_num_threads() is " << at::get_num_threads() << ", threads that took part: " << seen.size() << '\n';
}
C
count() {  # [FLAG]
    g++ -std=c++17 "$@" -isystem "$torch/include" "$folder/count.cpp" -o "$folder/count" "$torch/lib/libtorch_cpu.so" \
        "$torch/lib/libc10.so" "$torch"/lib/libgomp*.so* -Wl,--allow-shlib-undefined "-Wl,-rpath,$torch/lib"
    "$folder/count"
}
echo "torch 2.11.0, g++ $(g++ -dumpfullversion)"
without=$(count)
with=$(count -fopenmp)
echo "without -fopenmp: $without"
echo "with -fopenmp:    $with"
[[ $without == *"is 4, threads that took part: 1" ]] || { echo "Changed: without -fopenmp it is no longer one thread."; exit 1; }
[[ $with == *"is 4, threads that took part: 4" ]] || { echo "Changed: with -fopenmp it is no longer four threads."; exit 1; }
