# shellcheck shell=bash disable=SC2154  # set by lab
# LibTorch's part of the set-up: its packages are downloaded with pip, verified by pinned hashes, and unpacked into
# .lab/libtorch. Python never runs anything of them.

# Download in MiB, unpacked size in MiB and estimated seconds, by the name of the requirements file.
declare -A torch_download=([cpu]=519 [cuda]=1878)
declare -A torch_unpacked=([cpu]=1166 [cuda]=2660)
declare -A torch_seconds=([cpu]=40 [cuda]=100)

# Every system's Python fetches the same files, those for CPython 3.11 on these platforms.
pip_target=(--no-deps --require-hashes --only-binary=:all: --implementation cp --python-version 3.11
    --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --platform manylinux_2_25_x86_64
    --platform manylinux_2_18_x86_64 --platform manylinux2014_x86_64)

# find_python: sets python to one with a working pip; the first one in PATH may have none.
find_python() {
    for python in python3 /usr/bin/python3; do
        "$python" -m pip --version >/dev/null 2>&1 && return 0
    done
    python=''
    return 1
}

pinned_version() { sed -n 's/^torch==\([0-9.]*\).*/\1/p' "$root/tools/libtorch-cpu.txt"; }
pin_of() { sha256sum <"$root/tools/libtorch-$1.txt" | cut -d ' ' -f 1; }

# libtorch_ready HALF (cpu or cuda): installed by us from the pinned files, or (cpu) installed by the user in the pinned
# version.
libtorch_ready() {
    local stamp=$libtorch/lab-stamp-$1
    [[ -f $libtorch/torch/lib/libtorch_cpu.so ]] || return 1
    if [[ -f $stamp ]]; then
        [[ $(<"$stamp") == "$(pin_of "$1")" ]]
    elif [[ $1 == cpu ]]; then
        grep -qsE "^__version__ = '$(pinned_version | sed 's/\./\\./g')('|\+)" "$libtorch/torch/version.py"
    else
        return 1
    fi
}

# install_libtorch HALF: fills a temporary folder next to the real one, which it then replaces.
install_libtorch() {
    local half=$1 part=$lab/libtorch-$1.part
    find_python || fail 2 "Python's pip is missing; it fetches LibTorch. Install python3-pip, then run ./lab again."
    rm -rf -- "$part"
    mkdir -p "$part/tmp" "$lab/wheels"
    : >"$lab/libtorch.log"
    watch_size "downloading" "${torch_download[$half]}" $((torch_seconds[$half] / 2)) "$lab/wheels" "$part"
    download_wheels "$root/tools/libtorch-$half.txt" "$part"
    watch_size "unpacking" "${torch_unpacked[$half]}" $((torch_seconds[$half] / 2)) "$part"
    run_pip "$part" install --no-user --no-index --find-links "$lab/wheels" --no-compile --no-warn-script-location \
        --target "$part/new" -r "$root/tools/libtorch-$half.txt"
    unwatch
    place_libtorch "$half" "$part/new" "$part/old"
    rm -rf -- "$part" "$lab/wheels"
}

# download_wheels REQUIREMENTS PART: one by one, because pip keeps nothing of a download that fails half-way.
download_wheels() {
    local requirements=$1 part=$2 requirement
    while IFS= read -r requirement; do
        printf '%s\n' "$requirement" >"$part/requirement.txt"
        run_pip "$part" download -d "$lab/wheels" -r "$part/requirement.txt"
    done < <(sed -e '/^#/d' -e ':join' -e '/\\$/{N;s/\\\n *//;b join' -e '}' "$requirements")
    unwatch
}

place_libtorch() {
    local half=$1 new=$2 old=$3
    if [[ $half == cpu ]]; then
        pin_of cpu >"$new/lab-stamp-cpu"
        [[ ! -f $libtorch/lab-stamp-cuda ]] || echo "to be renewed" >"$new/lab-stamp-cuda"
        # The old folder is renamed as a whole, because a partly deleted one might look complete. A link is renamed, not
        # followed.
        [[ ! -e $libtorch && ! -L $libtorch ]] || mv -T -- "$libtorch" "$old"
        mv -T -- "$new" "$libtorch"
    else
        # The NVIDIA packages share folders with the existing ones; hard links avoid copies where possible.
        { cp -rlf -- "$new/." "$libtorch/" 2>/dev/null || cp -rf -- "$new/." "$libtorch/"; } ||
            fail 6 "The GPU libraries could not be copied to $libtorch: is the disk full? Run ./lab setup --cuda again."
        pin_of cuda >"$libtorch/lab-stamp-cuda"
    fi
}

# run_pip PART ARGUMENT...: uses the user's mirror, proxy and certificates, but no settings that redirect files.
# Temporary files go to PART, because /tmp is often too small.
run_pip() {
    local part=$1
    shift
    env -u PIP_USER -u PIP_TARGET -u PIP_PREFIX -u PIP_ROOT -u PIP_REQUIRE_VIRTUALENV -u PIP_NO_BINARY \
        -u PIP_ONLY_BINARY -u PIP_CONSTRAINT -u PIP_REQUIREMENT -u PIP_PLATFORM -u PIP_PYTHON_VERSION -u PIP_ABI \
        -u PIP_IMPLEMENTATION -u PIP_PYTHON -u PIP_DRY_RUN -u PIP_QUIET -u PIP_REPORT -u PYTHONPATH -u PYTHONHOME \
        LC_ALL=C.UTF-8 TMPDIR="$part/tmp" PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 \
        "$python" -m pip "$@" --no-cache-dir --progress-bar off "${pip_target[@]}" >>"$lab/libtorch.log" 2>&1 </dev/null ||
        explain_pip_failure "$lab/libtorch.log"
}

# watch_size LABEL MEBIBYTES SECONDS FOLDER...: while pip runs and until unwatch, shows progress by the size of the
# folders.
watch_size() {
    progress_start "$1" "$3"
    report_size "$2" "${@:4}" 9>&- &
    watcher=$!
}

report_size() {
    local mebibytes=$1 size
    shift
    trap - EXIT INT TERM
    while kill -0 $$ 2>/dev/null; do
        # Files may move while du runs. At most 99 % is shown, because only pip knows when it is done.
        size=$(du -scm -- "$@" 2>/dev/null | sed -n 's/^\([0-9]*\)[[:space:]]total$/\1/p') || true
        size=$((${size:-0} * 100 / mebibytes))
        progress_show $((size < 99 ? size : 99))
        sleep 1
    done
}

unwatch() {
    [[ -n $watcher ]] || return 0
    kill "$watcher" 2>/dev/null || true
    wait "$watcher" 2>/dev/null || true
    watcher=''
    progress_clear
}

pip_unreachable='NewConnectionError|NameResolutionError|name resolution|Network is unreachable|timed out|ProxyError'
pip_unreachable+='|ConnectionResetError|ProtocolError|Connection (refused|aborted|broken)'

explain_pip_failure() {
    local log=$1
    unwatch
    if grep -qE 'No space left on device|Disk quota exceeded' "$log"; then
        fail 6 \
            "The disk became full while LibTorch was downloaded. Free some space and run ./lab again; finished" \
            "downloads are kept."
    elif grep -qE 'DO NOT MATCH THE HASHES|bad hash|IncompleteRead|BadZipFile|is invalid' "$log"; then
        fail 1 \
            "A downloaded file does not match its hash, pinned in tools/ (a broken download, a proxy, or another file" \
            "on the mirror). Run ./lab again; if that does not help, try another network."
    elif grep -qE 'CERTIFICATE_VERIFY_FAILED|SSLError' "$log"; then
        fail 1 \
            "The package index could not be trusted: check this computer's clock, or name your proxy's certificate" \
            "in PIP_CERT. Then run ./lab again."
    elif grep -qE "$pip_unreachable" "$log"; then
        fail 1 \
            "The package index cannot be reached: is this computer online, and does it need a proxy (https_proxy)?" \
            "Then run ./lab again; it continues from there."
    elif grep -qE 'No matching distribution' "$log"; then
        fail 1 \
            "The package index has no file for" \
            "$(sed -nE 's/^ERROR: No matching distribution found for ([^ ]+).*/\1/p' "$log" | tail -n 1). If you use" \
            "a mirror (PIP_INDEX_URL), the mirror may lack it. See $log."
    fi
    tail -n 5 "$log" | sed 's/^/    /' >&2
    fail 1 \
        "pip could not download LibTorch (the end of its output is above, all of it in $log). Run ./lab again; it" \
        "continues from there."
}

# note_driver: the GPU part is useful only with a driver, which ./lab does not install.
note_driver() {
    local version=''
    version=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1) || true
    if [[ -z $version ]]; then
        say "No NVIDIA driver responds on this computer: training uses the CPU until one (580 or newer) is installed."
    elif older_than "$version" 580; then
        say "The NVIDIA driver here is $version; this LibTorch (CUDA 13) needs 580 or newer, so training uses the CPU."
    fi
}
