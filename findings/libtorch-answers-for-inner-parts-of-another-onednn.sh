#!/usr/bin/env bash
# LibTorch hides every dnnl_ function of the oneDNN that it contains, and yet it interferes with Debian's libdnnl.
#
# Surprising: `nm` shows no dnnl_ function in libtorch_cpu.so, so two versions of oneDNN seem to be isolated from each
# other. But templates of the standard library instantiated for oneDNN's own types (hash tables, vectors, call_once of its
# gemm_info_t) are exported as weak symbols by both. The loader uses the first symbol of a name in the process, so Debian's
# libdnnl 2.6.3 is bound to code compiled from LibTorch's oneDNN 3.10.2. RTLD_DEEPBIND keeps them apart.
#
# Versions: torch 2.11.0 (PyPI, x86-64), libdnnl-dev 2.6.3-1 (Debian 12), glibc 2.36.
# Seen, by LD_DEBUG=bindings while a program linked with libtorch_cpu opens a library that is linked with libdnnl:
#     dnnl_ functions that libtorch_cpu.so exports: 0
#     symbols of libdnnl that libtorch_cpu answers, opened with RTLD_LOCAL: 69, of them oneDNN's own: 7
#     the same with RTLD_LOCAL | RTLD_DEEPBIND: 0, of them oneDNN's own: 0
# Nothing is computed here, the bindings alone are looked at.
# Source: dlopen(3), "RTLD_DEEPBIND"; ld.so(8), "LD_DEBUG"; `nm --dynamic` of both libraries.
# Ours: core/operators/products.cpp opens libroper-products.so with RTLD_DEEPBIND; tests/core/operators/products_test.cpp
# (Products.AgreeWithFloat64) multiplies with Debian's oneDNN in a process that has loaded LibTorch.
set -euo pipefail
for package in g++ libdnnl-dev binutils; do
    dpkg-query --show "$package" >/dev/null 2>&1 || { echo "Debian's package $package is needed: apt-get install $package"; exit 2; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --root-user-action=ignore --no-deps --no-compile --target "$folder/packages" \
    torch==2.11.0 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
libraries=$folder/packages/torch/lib
cd "$folder"

cat >ours.c <<'C'
#include <dnnl.h>
int version(void) { return dnnl_version()->major * 100 + dnnl_version()->minor; }
C
cat >program.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** unused) {
    void* library = dlopen("./ours.so", RTLD_NOW | RTLD_LOCAL | (count > 1 ? RTLD_DEEPBIND : 0));
    if (library == NULL) return puts(dlerror()), 1;
    int (*version)(void) = (int (*)(void))dlsym(library, "version");
    return printf("its oneDNN says %d.%d\n", version() / 100, version() % 100) < 0;
}
C
gcc -shared -fPIC ours.c -o ours.so -ldnnl
gcc program.c -o program -Wl,--no-as-needed "$libraries/libtorch_cpu.so" "$libraries/libc10.so" \
    -Wl,--allow-shlib-undefined "-Wl,-rpath,$libraries"

nm --dynamic --defined-only "$libraries/libtorch_cpu.so" >exported
functions=$(grep -c ' T dnnl_' exported || true)
bindings() {  # → FILE: names of libdnnl's symbols that libtorch_cpu answers
    local file=$1
    shift
    LD_DEBUG=bindings LD_DEBUG_OUTPUT="$folder/debug-$file" ./program "$@"
    sed -n "s/.*binding file [^ ]*libdnnl[^ ]* .* to [^ ]*libtorch_cpu.* symbol .\([^']*\)'.*/\1/p" debug-"$file".* | sort -u >"$file"
}
bindings plain
bindings deep with-deepbind
echo "torch 2.11.0, libdnnl-dev $(dpkg-query --show --showformat='${Version}' libdnnl-dev)"
echo "dnnl_ functions that libtorch_cpu.so exports: $functions"
say() { echo "$1: $(wc -l <"$2"), of them oneDNN's own: $(grep -c dnnl "$2" || true)"; }
say "symbols of libdnnl that libtorch_cpu answers, opened with RTLD_LOCAL" plain
say "the same with RTLD_LOCAL | RTLD_DEEPBIND" deep
[ "$functions" = 0 ] || { echo "Changed: LibTorch now exports functions of oneDNN itself."; exit 1; }
grep -q dnnl plain || { echo "Changed: LibTorch no longer answers for any part of another oneDNN."; exit 1; }
[ ! -s deep ] || { echo "Changed: RTLD_DEEPBIND no longer keeps the two apart."; exit 1; }
