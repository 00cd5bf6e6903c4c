"""What engines share: a process that holds models, and a model in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, Self

import numpy as np

from qrt.engines.channel import Message
from qrt.engines.child import Child
from qrt.errors import ModelError, QuantTypeError, require
from qrt.ops.core import Array

SECONDS, MAX_BYTES = 60.0, 8 << 30


@dataclass(frozen=True)
class Port:
    """An input or an output of a model: its index among the tensors of the file, its name, shape and dtype. An engine
    that knows tensors by name alone counts ports instead."""

    index: int
    name: str
    shape: tuple[int, ...]
    dtype: str


class Engine:
    """A process of an engine. It is started when a model is first loaded, and again after it crashed."""

    def __init__(self, child: Child) -> None:
        self._child = child

    def _loaded(
        self,
        model: str | PathLike[str] | bytes,
        name: str | None,
        threads: int,
        values: Mapping[str, Any],
    ) -> tuple[str, dict[str, Any]]:
        """What errors call a model, and what the process says of it."""
        require(threads, int, "threads", "an integer")
        if threads < 1:
            raise QuantTypeError(f"threads must be at least 1, got {threads}")
        content = model if isinstance(model, bytes) else b""
        path = "" if isinstance(model, bytes) else fspath(model)
        said = name or path or "the model"
        given = {"path": path, "threads": threads, **values}
        return said, self._child.ask("load", said, given, [np.frombuffer(content, np.uint8)])[0]

    def close(self) -> None:
        """Ends the process."""
        self._child.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LoadedModel:
    """A model in a process."""

    def __init__(self, child: Child, name: str, answer: Mapping[str, Any]) -> None:
        self._child, self._ends, self._number, self.name = child, child.ends, answer["number"], name
        self.inputs, self.outputs = (
            [Port(index, said, tuple(shape), dtype) for index, said, shape, dtype in answer[which]]
            for which in ("inputs", "outputs")
        )

    def timed(self, inputs: Sequence[Array], repeats: int) -> float:
        """The seconds of a call, with what gives it inputs and takes outputs, as the mean of so many."""
        return float(self._ask("timed", {"repeats": repeats}, inputs)[0]["seconds"])

    def close(self) -> None:
        """Frees the model in the process."""
        if self._child.ends == self._ends:
            self._ask("close", {})

    def _ask(self, what: str, values: Mapping[str, Any], arrays: Sequence[Array] = ()) -> Message:
        if self._child.ends != self._ends:
            raise ModelError(f"the process of {self._child.name} that held {self.name} has ended: load it again")
        return self._child.ask(what, self.name, {"number": self._number, **values}, [np.asarray(a) for a in arrays])
