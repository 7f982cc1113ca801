#!/usr/bin/env bash
# safetensors 0.8.0 saves the transpose of a numpy array with the right shape but with its numbers in the wrong order.
#
# Surprising: with 0.7.0, loading returns what was saved, whatever its order in memory. 0.8.0 writes the memory from the
# array's address on unchanged, which is wrong for transposed arrays and for columns sliced from a matrix. No error is
# raised, and shapes and types match. Converting weights between layouts consists mostly of transposing.
#
# Versions: safetensors 0.8.0 and 0.7.0, numpy 2.4.6 (PyPI).
# Seen, saving and loading the transpose of [[0, 1, 2], [3, 4, 5]] and its last two columns:
#     saved                [[0, 3], [1, 4], [2, 5]]  [[1, 2], [4, 5]]
#     loaded with 0.7.0    [[0, 3], [1, 4], [2, 5]]  [[1, 2], [4, 5]]
#     loaded with 0.8.0    [[0, 1], [2, 3], [4, 5]]  [[1, 2], [3, 4]]
# Source: _flatten in safetensors/numpy.py (data_ptr=tensor.ctypes.data); reported upstream as safetensors/safetensors#825.
# Ours: tests/parity/gguf_reference.py writes with save_file what tests/core/pretrained/gguf_file_test.cpp reads
# (Gguf.EveryTypeIsDecodedBitForBitAsByItsPackage); arrays that are neither transposed nor sliced are saved correctly.
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
