# shellcheck shell=bash disable=SC2154  # what lab sets
# The tests' part of the set-up: a few packages of Python, pinned, in a folder of their own under .lab.

test_packages_folder=$lab/test-packages
test_packages_seconds=6

test_packages_pin() { sha256sum <"$root/tools/test-packages.txt" | cut -d ' ' -f 1; }
test_packages_ready() { [[ $(cat -- "$test_packages_folder/lab-stamp" 2>/dev/null) == "$(test_packages_pin)" ]]; }

# install_test_packages: without them one test is left out, which is no reason to run none.
install_test_packages() {
    local part=$test_packages_folder.part
    # run_pip's own target is LibTorch's; these files are the same for every machine.
    local pip_target=(--no-deps --require-hashes --only-binary=:all: --implementation py --abi none --platform any
        --python-version 3.9)
    find_python || return 0
    rm -rf -- "$part"
    mkdir -p "$part/tmp"
    if ! (explain_pip_failure() { exit 1; } && run_pip "$part" install --no-user --no-compile \
        --no-warn-script-location --target "$part/new" -r "$root/tools/test-packages.txt"); then
        say "TensorBoard could not be fetched, so the test that it reads our runs is left out. $lab/libtorch.log says why."
        rm -rf -- "$part"
        return 0
    fi
    test_packages_pin >"$part/new/lab-stamp"
    rm -rf -- "$test_packages_folder"
    mv -T -- "$part/new" "$test_packages_folder"
    rm -rf -- "$part"
}
