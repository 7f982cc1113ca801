#!/usr/bin/env bash
# safetensors 0.8.0 saves the transpose of a numpy array with its shape right and its numbers in the wrong places.
#
# Surprising: with 0.7.0 what is read back is what was saved, whatever its order in memory. 0.8.0 takes the array's address and
# writes the memory from there on as it lies: wrong for transposed arrays and for columns cut out of a matrix. Nothing is
# raised, and shapes and types fit. Transposing is just what converting weights from one layout to another consists of.
#
# Versions: safetensors 0.8.0 and 0.7.0, numpy 2.4.6 (PyPI).
# Seen, saving and loading the transpose of [[0, 1, 2], [3, 4, 5]] and its last two columns:
#     saved                [[0, 3], [1, 4], [2, 5]]  [[1, 2], [4, 5]]
#     loaded with 0.7.0    [[0, 3], [1, 4], [2, 5]]  [[1, 2], [4, 5]]
#     loaded with 0.8.0    [[0, 1], [2, 3], [4, 5]]  [[1, 2], [3, 4]]
# Source: _flatten in safetensors/numpy.py (data_ptr=tensor.ctypes.data); reported upstream as safetensors/safetensors#825.
# Ours: tests/parity/gguf_reference.py writes with save_file what tests/core/pretrained/gguf_file_test.cpp compares with (Gguf,
# EveryTypeIsDecodedAsItsMakersDo); arrays that are neither transposed nor cut out are saved rightly.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/both.py" <<'PYTHON'
import numpy
import safetensors
from safetensors.numpy import load, save

whole = numpy.arange(6).reshape(2, 3)
arrays = {"transposed": whole.T, "columns": whole[:, 1:]}
back = load(save(arrays))
if safetensors.__version__ == "0.7.0":
    print("saved               ", *(one.tolist() for one in arrays.values()), sep="  ")
print("loaded with " + safetensors.__version__ + "   ", *(back[name].tolist() for name in arrays), sep="  ")
PYTHON
for version in 0.7.0 0.8.0; do
    python3 -m venv "$folder/$version"
    "$folder/$version/bin/pip" install --quiet "safetensors==$version" numpy==2.4.6
    "$folder/$version/bin/python" "$folder/both.py" | tee --append "$folder/seen"
done
right='[[0, 3], [1, 4], [2, 5]]  [[1, 2], [4, 5]]'
grep --quiet --fixed-strings "0.7.0     $right" "$folder/seen" || { echo "Changed: 0.7.0 no longer keeps the order either."; exit 1; }
grep --quiet --fixed-strings '0.8.0     [[0, 1], [2, 3], [4, 5]]  [[1, 2], [3, 4]]' "$folder/seen" || {
    echo "Changed: safetensors writes such arrays in another way."
    exit 1
}
