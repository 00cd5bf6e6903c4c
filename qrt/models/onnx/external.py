"""Data of tensors in files of their own, beside the model: inside its folder, no links, mapped."""

import mmap
import os
import stat
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from qrt.errors import ModelError, shown
from qrt.ops.core import Array


class External:
    """The files beside a model. Each is mapped once, and must not change while the model is used."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._mapped: dict[str, Array] = {}

    def data(self, place: str, said: Mapping[str, str], expected: int) -> Array:
        """The bytes of a tensor. Raises ModelError where the file lies elsewhere, or does not hold them."""
        location = said.get("location", "")
        offset, length = _number(place, said, "offset", 0), _number(place, said, "length", expected)
        if length != expected:
            raise ModelError(f"{place}: its external data has {length} bytes, expected {expected}")
        content = self._file(place, location)
        if offset + length > content.size:
            raise ModelError(
                f"{place}: {length} bytes at {offset} are not in {shown(location)}, which has {content.size}"
            )
        return content[offset : offset + length]

    def _file(self, place: str, location: str) -> Array:
        if location not in self._mapped:
            self._mapped[location] = _map(self._path(place, location), place, location)
        return self._mapped[location]

    def _path(self, place: str, location: str) -> Path:
        if self.folder is None:
            raise ModelError(f"{place}: its data is external, but the model comes from no file")
        parts = Path(location).parts
        if not location or "\0" in location or Path(location).is_absolute() or "\\" in location or ":" in location:
            raise ModelError(f"{place}: its external data is in {shown(location)}, expected a path in the folder")
        if ".." in parts or not parts:
            raise ModelError(f"{place}: its external data is in {shown(location)}, outside the model's folder")
        path = self.folder
        for part in parts:
            path = path / part
            try:
                is_link = path.is_symlink()
            except OSError as error:  # a name that is too long, or a folder that must not be read
                raise ModelError(f"{place}: its external data {shown(location)}: {error.strerror}") from None
            if is_link:
                raise ModelError(f"{place}: its external data is in {shown(location)}, which is a link")
        return path


def _map(path: Path, place: str, location: str) -> Array:
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        raise ModelError(f"{place}: its external data {shown(location)}: {error.strerror}") from None
    try:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise ModelError(f"{place}: its external data {shown(location)} is no regular file")
        if not status.st_size:  # no bytes cannot be mapped
            return np.empty(0, np.uint8)
        return np.frombuffer(mmap.mmap(number, 0, access=mmap.ACCESS_READ), np.uint8)
    finally:
        os.close(number)


def _number(place: str, said: Mapping[str, str], name: str, default: int) -> int:
    text = said.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise ModelError(f"{place}: the {name} of its external data is {shown(text)}, expected a number")
    return int(text)
