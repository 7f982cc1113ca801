#!/usr/bin/env bash
# A running TensorBoard never notices that an event file was replaced: it mixes old values with new ones.
#
# Surprising: a run resumed from a checkpoint rewrites its event file, so that each step occurs once, and renames it over
# the old one. The loader remembers how many bytes it has read and continues there in the new file. Steps that were computed
# again keep the discarded values; if the lengths of records differ, the loader lands within a record, believes that it is
# still being written, and shows nothing new any more. There is no warning in either case: it logs at level DEBUG. Only a
# restart of TensorBoard shows the contents of the file.
#
# Versions: tensorboard 2.18.0 (with the pure Python packages that it needs), numpy 1.26.4.
# Seen (step:value; the loss is 1 in the first run and 2 in the resumed one):
#     first run                       1:1 2:1 3:1 4:1 5:1 6:1
#     resumed from step 3, up to 9    1:1 2:1 3:1 4:1 5:1 6:1 7:2 8:2 9:2
#     the same, one record is longer  1:1 2:1 3:1 4:1 5:1 6:1
#     a new TensorBoard, both cases   1:1 2:1 3:1 4:2 5:2 6:2 7:2 8:2 9:2
# Source: RawEventFileLoader in tensorboard/backend/event_processing/event_file_loader.py; its option
# detect_file_replacement (off here) would only open the file again "while preserving the current offset".
# Ours: a resumed run appends a SessionLog START and its events (core/runs/run_rewind.cpp); tests/process/experiment_test.py
# (TensorBoard.test_a_run_that_was_killed_and_resumed_is_followed) follows one with the same loader.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet --no-deps tensorboard==2.18.0 protobuf==5.29.5 absl-py==2.1.0 six==1.17.0 \
    packaging==24.2 numpy==1.26.4

"$folder/python/bin/python" - "$folder" <<'PYTHON'
import os
import sys

import tensorboard
from tensorboard.backend.event_processing.event_multiplexer import EventMultiplexer
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.summary.writer.record_writer import RecordWriter


def event(step, value, tag="loss"):
    one = Event(step=step, wall_time=1.7e9 + step)
    one.summary.value.add(tag=tag, simple_value=value)
    return one


def write(path, events):
    with open(path + ".new", "wb") as file:
        writer = RecordWriter(file)
        for one in [Event(file_version="brain.Event:2", wall_time=1.7e9), *events]:
            writer.write(one.SerializeToString())
        writer.flush()
    os.replace(path + ".new", path)


def look(board, folder):
    board.AddRunsFromDirectory(folder)
    board.Reload()
    return " ".join(f"{one.step}:{one.value:.0f}" for one in board.GetAccumulator("run").Scalars("loss"))


first = [event(step, 1.0) for step in range(1, 7)]
again = [event(step, 2.0) for step in range(4, 10)]
seen = []
for name, between in (("same", []), ("longer", [event(4, 2.0, "gradient_norm")])):
    folder = f"{sys.argv[1]}/{name}"
    os.makedirs(folder + "/run")
    path = folder + "/run/events.out.tfevents.1700000000.host"
    board = EventMultiplexer()
    write(path, first)
    before = look(board, folder)
    write(path, first[:3] + between + again)
    seen.append((before, look(board, folder), look(EventMultiplexer(), folder)))
print("tensorboard", tensorboard.__version__)
print("first run                      ", seen[0][0])
print("resumed from step 3, up to 9   ", seen[0][1])
print("the same, one record is longer ", seen[1][1])
print("a new TensorBoard, both cases  ", seen[0][2])
old, new = "1:1 2:1 3:1 4:1 5:1 6:1", "1:1 2:1 3:1 4:2 5:2 6:2 7:2 8:2 9:2"
if seen != [(old, old + " 7:2 8:2 9:2", new), (old, old, new)]:
    sys.exit("Changed: TensorBoard reads a replaced event file in another way.")
PYTHON
