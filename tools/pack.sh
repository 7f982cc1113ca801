# shellcheck shell=bash disable=SC2154  # set by lab
# Packs the trainer into one archive for cluster nodes. They need a glibc as new as this system's and, for a GPU, its
# driver. Or all programs into a Debian package, whose contents are in cmake/Install.cmake.

# Libraries that every system has in versions that match its loader, and libraries of a GPU driver.
system_libraries='ld-linux-x86-64\.so|lib(c|m|dl|rt|util|pthread|resolv|anl)\.so|libcuda\.so|libnvidia-'

pack_trainer() {
    local name archive said
    name=roper-train-$(sed -n 's/^project(RoperLab VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")-linux-x86_64
    archive=${one_argument:-$PWD/$name.tar.gz}
    rm -rf -- "${root:?}/build/pack"
    stage_trainer "$root/build/pack/$name"
    say "Packing $(du -sm "$root/build/pack/$name" | cut -f1) MB …"
    if ! said=$(tar -C "$root/build/pack" --owner=0 --group=0 -czf "$archive.part" "$name" 2>&1) ||
        ! said=$(mv "$archive.part" "$archive" 2>&1); then
        rm -f -- "$archive.part"
        fail 6 "$archive could not be written: $(head -n 1 <<<"$said"). Free some space, or choose another file:" \
            "./lab pack FILE.tar.gz"
    fi
    rm -rf -- "${root:?}/build/pack"
    say "$archive, $(du -m "$archive" | cut -f1) MB: unpack it anywhere and start $name/bin/roper-train. It needs" \
        "glibc $(ldd --version | sed -n '1s/.* //p') or newer" \
        "$([[ -f $libtorch/lab-stamp-cuda ]] && echo "and, for a GPU, an NVIDIA driver." || echo "and trains on CPUs; after ./lab setup --cuda on GPUs, too.")"
}

# stage_trainer FOLDER: all contents of the archive.
stage_trainer() {
    local stage=$1 program
    mkdir -p "$stage/bin" "$stage/lib" "$stage/resources"
    cp "$bin/roper-train" "$bin/roper-tokenizer" "$bin/libroper-products.so" "$stage/bin/"
    if [[ -f $libtorch/lab-stamp-cuda ]]; then cp "$bin/libroper_cuda.so" "$stage/bin/"; fi
    for program in "$stage"/bin/*; do
        pack_libraries_of "$bin/${program##*/}"
    done
    cp -r "$root/resources/presets" "$root/resources/sweeps" "$root/resources/texts" "$stage/resources/"
    cp "$root/LICENSE" "$root/docs/clusters.md" "$stage/"
}

# pack_libraries_of FILE: copies the libraries that it loads and that not every system has. LibTorch's libraries keep
# their relative places, by which they find each other; all others go to lib/, where the programs look.
pack_libraries_of() {
    local library path
    while read -r library path; do
        [[ ! $library =~ ^($system_libraries) ]] || continue
        [[ $path == /* ]] || fail 2 "${1##*/} needs $library, which is not here. Run ./lab setup and pack again."
        path=$(readlink -f "$path")
        if [[ $path == "$(readlink -f "$libtorch")"/* ]]; then
            pack_file "$path" "$stage/libtorch/${path#"$(readlink -f "$libtorch")"/}"
        else
            pack_file "$path" "$stage/lib/$library"
        fi
    done < <(ldd "$1" | sed -nE 's/^\s*(\S+) => (not found|\S+).*/\1 \2/p')
}

pack_file() {
    [[ -e $2 ]] || { mkdir -p "${2%/*}" && cp "$1" "$2"; }
}

make_package() {
    local folder=$root/build/package log=$lab/package.log package
    is_debian_like || fail 2 "$distribution_name has no Debian packages; cmake --install build/release installs the programs."
    rm -rf -- "$folder"
    say "Making a Debian package, which takes a few minutes …"
    cpack --config "$root/build/release/CPackConfig.cmake" -G DEB -B "$folder" >"$log" 2>&1 ||
        fail 1 "The package could not be created; $log says why."
    package=$(find "$folder" -maxdepth 1 -name '*.deb')
    mv -- "$package" "$PWD/" || fail 6 "$package could not be moved to $PWD."
    rm -rf -- "$folder"
    package=${package##*/}
    say "$PWD/$package, $(du -m "$PWD/$package" | cut -f1) MB: install it on this distribution with"
    say "sudo apt install ./$package"
}
