# shellcheck shell=bash disable=SC2154  # what lab sets
# The peers' part of the set-up: PyTorch and labml-nn in a virtual environment of their own, for measurements.

peers_folder=$lab/peers
peers_seconds=240
peers_space=9000

peers_ready() { cmp -s "$root/tools/peers.txt" "$peers_folder/lab-peers.txt"; }

install_peers() {
    local log=$lab/peers.log
    progress_start "downloading and unpacking" "$peers_seconds"
    rm -rf -- "$peers_folder"
    if ! { /usr/bin/python3 -m venv "$peers_folder" &&
        "$peers_folder/bin/pip" install --no-cache-dir --progress-bar off -r "$root/tools/peers.txt"; } >"$log" 2>&1; then
        fail 1 "The peers could not be installed. $log says why; ./lab setup --peers tries again."
    fi
    progress_clear
    cp -- "$root/tools/peers.txt" "$peers_folder/lab-peers.txt"
}
