# shellcheck shell=bash disable=SC2154  # what lab sets
# The baselines' part of the set-up: PyTorch and labml-nn in a virtual environment of their own, for measurements.

baselines_folder=$lab/baselines
baselines_seconds=240
baselines_space=9000

baselines_ready() { cmp -s "$root/tools/baselines.txt" "$baselines_folder/lab-baselines.txt"; }

install_baselines() {
    local log=$lab/baselines.log
    progress_start "downloading and unpacking" "$baselines_seconds"
    rm -rf -- "$baselines_folder"
    # setuptools first, since one package is built from its source; nothing is fetched that has no hash.
    local pip=("$baselines_folder/bin/pip" install --no-cache-dir --progress-bar off --require-hashes)
    if ! { /usr/bin/python3 -m venv "$baselines_folder" &&
        "${pip[@]}" -r <(grep -A 1 '^setuptools==' "$root/tools/baselines.txt") &&
        "${pip[@]}" --no-build-isolation -r "$root/tools/baselines.txt"; } >"$log" 2>&1; then
        fail 1 "The baselines could not be installed. $log says why; ./lab setup --baselines tries again."
    fi
    progress_clear
    cp -- "$root/tools/baselines.txt" "$baselines_folder/lab-baselines.txt"
}
