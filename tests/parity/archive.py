"""Archives of the tests' small models, which the build unpacks."""

import contextlib
import pathlib
import tarfile


def pack(folder: pathlib.Path, archive: pathlib.Path) -> None:
    """Writes everything in the folder. The same files make the same archive, byte for byte."""
    with tarfile.open(archive, "w:xz") as packed:
        for path in sorted(folder.rglob("*")):
            entry = packed.gettarinfo(path, path.relative_to(folder))
            entry.mtime = entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mode = 0o755 if path.is_dir() else 0o644
            with open(path, "rb") if path.is_file() else contextlib.nullcontext() as content:
                packed.addfile(entry, content)
