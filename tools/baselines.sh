# shellcheck shell=bash disable=SC2154  # set by lab
# The baselines' part of the set-up: PyTorch and labml-nn in a separate virtual environment, for benchmarks.

baselines_folder=$lab/baselines
baselines_seconds=240
baselines_space=9000

baselines_ready() { cmp -s "$root/tools/baselines.txt" "$baselines_folder/lab-baselines.txt"; }

install_baselines() {
    local log=$lab/baselines.log
    progress_start "downloading and unpacking" "$baselines_seconds"
    rm -rf -- "$baselines_folder"
    # setuptools comes first, because one package is built from source; only files with a known hash are downloaded.
    local pip=("$baselines_folder/bin/pip" install --no-cache-dir --progress-bar off --require-hashes)
    if ! { /usr/bin/python3 -m venv "$baselines_folder" &&
        "${pip[@]}" -r <(grep -A 1 '^setuptools==' "$root/tools/baselines.txt") &&
        "${pip[@]}" --no-build-isolation -r "$root/tools/baselines.txt"; } >"$log" 2>&1; then
        fail 1 "The baselines could not be installed; $log says why. To try again, run ./lab setup --baselines."
    fi
    progress_clear
    cp -- "$root/tools/baselines.txt" "$baselines_folder/lab-baselines.txt"
}
