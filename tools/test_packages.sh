# shellcheck shell=bash disable=SC2154  # set by lab
# The tests' part of the set-up: a few pinned Python packages in a separate folder under .lab.

test_packages_folder=$lab/test-packages
test_packages_seconds=6

test_packages_pin() { cat -- "$root"/tools/test-packages{,-cp311}.txt | sha256sum | cut -d ' ' -f 1; }
test_packages_ready() { [[ $(cat -- "$test_packages_folder/lab-stamp" 2>/dev/null) == "$(test_packages_pin)" ]]; }

# fetch_test_packages REQUIREMENTS PART
fetch_test_packages() {
    (explain_pip_failure() { exit 1; } && run_pip "$2" install --no-user --no-compile --no-warn-script-location \
        --target "$2/new" -r "$root/tools/$1")
}

# Packages that are the same on every machine, and therefore do not use run_pip's platform options for LibTorch.
fetch_pure_packages() {
    local pip_target=(--no-deps --require-hashes --only-binary=:all: --implementation py --abi none --platform any
        --python-version 3.9)
    fetch_test_packages test-packages.txt "$1"
}

# install_test_packages: without them only two tests are skipped, so failure is not fatal.
install_test_packages() {
    local part=$test_packages_folder.part
    find_python || return 0
    rm -rf -- "$part"
    mkdir -p "$part/tmp"
    if ! fetch_pure_packages "$part" || ! fetch_test_packages test-packages-cp311.txt "$part"; then
        say "TensorBoard and SentencePiece could not be fetched, so the tests that compare with them are left out." \
            "$lab/libtorch.log says why."
        rm -rf -- "$part"
        return 0
    fi
    test_packages_pin >"$part/new/lab-stamp"
    rm -rf -- "$test_packages_folder"
    mv -T -- "$part/new" "$test_packages_folder"
    rm -rf -- "$part"
}
