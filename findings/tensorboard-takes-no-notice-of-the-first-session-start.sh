#!/usr/bin/env bash
# TensorBoard discards the steps that a SessionLog START declares as repeated, but not at the first START of a run.
#
# Surprising: event.proto says that at START all events of its step and later ones should be discarded, and the older loader
# (event_accumulator) does so at every START. The loader that TensorBoard uses treats the first START that it reads as the
# start of the run, wherever it is. A writer that adds one only when a run is resumed, like PyTorch's
# SummaryWriter(purge_step), therefore keeps both values of each repeated step after the first resume, but not after later
# ones.
#
# Versions: tensorboard 2.18.0 (with the pure Python packages that it needs), numpy 1.26.4.
# Seen, steps of a run that was resumed at step 3 and appended START and steps 3 and 4 to its file:
#     START at the resume alone            1 2 3 4 3 4
#     also at the beginning, with step 0   1 2 3 4
#     the older loader, START once         1 2 3 4
# Source: EventAccumulator._CheckForRestartAndMaybePurge in tensorboard/backend/event_processing/plugin_event_accumulator.py.
# Ours: each event file begins with a START (formatEventFileStart in core/runs/tensorboard_events.cpp);
# tests/process/experiment_test.py (TensorBoard.test_a_run_that_was_killed_and_resumed_is_followed).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet --no-deps tensorboard==2.18.0 protobuf==5.29.5 absl-py==2.1.0 six==1.17.0 \
    packaging==24.2 numpy==1.26.4

"$folder/python/bin/python" - "$folder" <<'PYTHON'
import logging
import os
import sys

import tensorboard
from tensorboard.backend.event_processing import event_accumulator, plugin_event_accumulator
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.summary.writer.record_writer import RecordWriter

logging.disable()


def value(step):
    one = Event(step=step, wall_time=1.7e9 + step)
    one.summary.value.add(tag="loss", simple_value=1.0)
    return one


def start(step):
    return Event(step=step, wall_time=1.7e9 + step, session_log=SessionLog(status=SessionLog.START))


def write(name, events):
    folder = f"{sys.argv[1]}/{name}"
    os.makedirs(folder)
    with open(folder + "/events.out.tfevents.1700000000.host", "wb") as file:
        writer = RecordWriter(file)
        for one in [Event(file_version="brain.Event:2", wall_time=1.7e9), *events]:
            writer.write(one.SerializeToString())
        writer.flush()
    return folder


def steps(board, read):
    board.Reload()
    return " ".join(str(one.step) for one in read(board))


resumed = [*map(value, (1, 2, 3, 4)), start(3), *map(value, (3, 4))]
once, twice = write("once", resumed), write("twice", [start(0), *resumed])
today = [steps(plugin_event_accumulator.EventAccumulator(folder), lambda board: board.Tensors("loss")) for folder in (once, twice)]
older = steps(event_accumulator.EventAccumulator(once), lambda board: board.Scalars("loss"))
print("tensorboard", tensorboard.__version__)
print("START at the resume alone          ", today[0])
print("also at the beginning, with step 0 ", today[1])
print("the older loader, START once       ", older)
if (today, older) != (["1 2 3 4 3 4", "1 2 3 4"], "1 2 3 4"):
    sys.exit("Changed: TensorBoard purges at other session starts.")
PYTHON
