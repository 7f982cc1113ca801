#!/usr/bin/env bash
# On Linux, Qt 6.12 tells screen readers a combo box's value as its name; setAccessibleName() and its label change nothing.
#
# Surprising: setAccessibleName() is documented for every widget and obeyed by a spin box beside it. A form of ten combo
# boxes is read as "half", "none", "auto" … with no word of what each of them chooses, and accessibleName() returns what was
# set, so a test of that property finds nothing wrong. A label with setBuddy() gives a relation, but no name either.
#
# Versions: PySide6_Essentials 6.12.0 with shiboken6 6.12.0 (PyPI), platform offscreen; Debian's Qt 6.4.2 does the same.
# Seen (widget, the name and the value that screen readers receive):
#     spin box named "Head width"        Head width / 32
#     combo box named "Pairing"          half / half
#     editable one named "Preset"        copy / copy
#     combo box with a buddy "Task"      addition / addition
# Source: QAccessibleComboBox::text in qtbase's src/widgets/accessible/complexwidgets.cpp lets Name fall through to Value
# on Unix.
# Ours: ui/charts/accessibility.cpp gives combo boxes an interface of their own; tests/gui/labels_test.cpp asks that
# interface, and not the property, for the name of every control.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet PySide6_Essentials==6.12.0 shiboken6==6.12.0
cat >"$folder/names.py" <<'PYTHON'
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QSpinBox, QVBoxLayout, QWidget

application = QApplication([])
window = QWidget()
form = QVBoxLayout(window)


def show(what, widget, name=None):
    form.addWidget(widget)
    if name:
        widget.setAccessibleName(name)
        assert widget.accessibleName() == name
    read = QAccessible.queryAccessibleInterface(widget)
    print(f"{what:34} {read.text(QAccessible.Text.Name)} / {read.text(QAccessible.Text.Value)}")


def combo(item, editable=False):
    box = QComboBox(editable=editable)
    box.addItems([item, "another"])
    return box


show('spin box named "Head width"', QSpinBox(value=32), "Head width")
show('combo box named "Pairing"', combo("half"), "Pairing")
show('editable one named "Preset"', combo("copy", True), "Preset")
labelled = combo("addition")
label = QLabel("&Task")
label.setBuddy(labelled)
form.addWidget(label)
show('combo box with a buddy "Task"', labelled)
PYTHON
QT_QPA_PLATFORM=offscreen "$folder/venv/bin/python" "$folder/names.py" | tee "$folder/seen"
grep --quiet '"Head width" *Head width / 32' "$folder/seen" || { echo "Changed: names of spin boxes."; exit 1; }
for line in '"Pairing" *half / half' '"Preset" *copy / copy' '"Task" *addition / addition'; do
    grep --quiet "$line" "$folder/seen" || { echo "Changed: combo boxes have names: $line"; exit 1; }
done
