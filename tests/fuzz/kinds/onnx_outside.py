"""ONNX files whose tensors lie in a file beside them: where they say so, and the folder in which they are read."""

from pathlib import Path
from random import Random
from typing import Any

NAME, FOLDER = "w.bin", "own"
DATA = bytes(range(1, 128)) * 129
"""What the file beside a model holds, and the one in the folder."""
_LOCATIONS = (
    NAME, NAME, NAME, f"{FOLDER}/{NAME}", FOLDER, "absent.bin", f"../{NAME}", "", ".", "n" * 5000, f"{FOLDER}/" * 900,
    f"{NAME}/x", f"/{NAME}", "a\0b", "é", "link.bin",
)  # fmt: skip
_NUMBERS = ("0", "1", "4", "8", "16", "-1", "99999999999", "x", "", "18446744073709551616", "1" * 400)


def put_outside(draw: Random, message: Any) -> None:
    """Makes the data of an initializer external. The right length stays as often as not."""
    if not message.graph.initializer:
        return
    tensor = draw.choice(message.graph.initializer)
    length = len(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = 1
    entries = {"location": draw.choice(_LOCATIONS)}
    if draw.random() < 0.8:
        entries["length"] = str(length) if draw.random() < 0.8 else draw.choice(_NUMBERS)
    if draw.random() < 0.5:
        entries["offset"] = draw.choice(_NUMBERS[:4]) if draw.random() < 0.6 else draw.choice(_NUMBERS)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)


def with_data(content: bytes, folder: Path) -> Path:
    """The file of a model in a folder, with the files that it may name."""
    path = folder / "model.onnx"
    path.write_bytes(content)
    (folder / FOLDER).mkdir()
    for place in (folder / NAME, folder / FOLDER / NAME):
        place.write_bytes(DATA)
    (folder / "link.bin").symlink_to(folder / NAME)
    return path
