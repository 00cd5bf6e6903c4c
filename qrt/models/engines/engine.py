"""A process that holds models by number, a model in it, and the answers of the child process: the parts that engines
share.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from qrt.errors import ModelError, QuantTypeError, nearest, require, shown
from qrt.extras import require_installed
from qrt.models.engines.child import Child, Handler, Message
from qrt.ops.core import Array
from qrt.registry import Registry

SECONDS, MAX_BYTES = 60.0, 8 << 30

Key = int | str
"""What an engine calls a tensor: LiteRT by its index in the file, ONNX Runtime by its name."""


@dataclass(frozen=True)
class EnginePort:
    """An input or an output of a model: its index among the tensors of the file, its name, shape and dtype. An engine
    that knows tensors by name alone counts ports instead."""

    index: int
    name: str
    shape: tuple[int, ...]
    dtype: str


class Engine:
    """A process of an engine. It is started when a model is first loaded, and again after it crashed.

    Parameters
    ----------
    seconds : float, default 60
        How long loading or a run may take.
    max_bytes : int, default 8 GiB
        The address space of the process, of which Python and the engine themselves take less than 2 GiB.

    Raises
    ------
    ImportError
        If a package that the engine needs is not installed: it comes with an extra.
    """

    name: ClassVar[str]
    """What messages call the engine."""
    profiles: ClassVar[Mapping[str, str]]
    """The ways in which it runs a model, the first of which is taken where none is said; the engine's own words."""
    module: ClassVar[str]
    """The module whose handlers the process runs."""
    packages: ClassVar[Mapping[str, str]]
    """The extra of each package that it needs."""

    def __init__(self, *, seconds: float = SECONDS, max_bytes: int = MAX_BYTES) -> None:
        for package, name in self.packages.items():
            require_installed(package, name)
        self._child = Child(self.module, self.name, seconds, max_bytes)

    def load(
        self,
        model: str | PathLike[str] | bytes,
        *,
        profile: str | None = None,
        threads: int = 1,
        keeps_tensors: bool = False,
        name: str | None = None,
    ) -> "LoadedModel":
        """Loads a model.

        Parameters
        ----------
        model : path or bytes
            The file, or its content.
        profile : str, optional
            One of `profiles`: the first if not given.
        threads : int, default 1
            How many threads an operator may use.
        keeps_tensors : bool, default False
            Whether all tensors can be read after a run. The process needs more memory, and what would be fused is not.
        name : str, optional
            What errors call the model: the path if not given.

        Returns
        -------
        LoadedModel

        Raises
        ------
        ModelError
            If there is no such profile, or the engine refuses the model, crashes or takes too long.
        """
        profile = next(iter(self.profiles)) if profile is None else profile
        if profile not in self.profiles:
            meant = nearest(profile, self.profiles) or " or ".join(self.profiles)
            raise ModelError(f"{self.name} has no profile {shown(profile)}; did you mean {meant}?")
        require(threads, int, "threads", "an integer")
        if threads < 1:
            raise QuantTypeError(f"threads must be at least 1, got {threads}")
        content = model if isinstance(model, bytes) else b""
        path = "" if isinstance(model, bytes) else fspath(model)
        said = name or path or "the model"
        values = {"path": path, "threads": threads, "profile": self.profiles[profile], "keeps": keeps_tensors}
        answer, _ = self._child.ask("load", said, values, [np.frombuffer(content, np.uint8)])
        return LoadedModel(self._child, said, answer)

    def close(self) -> None:
        """Ends the process."""
        self._child.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LoadedModel:
    """A model in a process. Its state, if it has any, stays from run to run until ``reset``."""

    def __init__(self, child: Child, name: str, answer: Mapping[str, Any]) -> None:
        self._child, self._ends, self._number, self.name = child, child.ends, answer["number"], name
        self.inputs, self.outputs = (
            [EnginePort(index, said, tuple(shape), dtype) for index, said, shape, dtype in answer[which]]
            for which in ("inputs", "outputs")
        )
        self.output_keys: list[Key] = answer["keys"]
        """What the engine calls the outputs."""

    def run(self, inputs: Sequence[Array], tensors: Sequence[Key] | None = None) -> list[Array]:
        """The outputs of a run, or these tensors of the main graph. Inputs are in the file's order; where the model
        allows it, they may have another shape than it says."""
        return self._ask("run", {"tensors": None if tensors is None else [*tensors]}, inputs)[1]

    def readable(self) -> set[Key]:
        """The tensors that a run can return: numbers that have memory."""
        return set(self._ask("readable", {})[0]["tensors"])

    def reset(self) -> None:
        """Makes the state what it is after loading."""
        self._ask("reset", {})

    def timed(self, inputs: Sequence[Array], repeats: int) -> float:
        """The seconds of a call, with what gives it inputs and takes outputs, as the mean of so many."""
        return float(self._ask("timed", {"repeats": repeats}, inputs)[0]["seconds"])

    def close(self) -> None:
        """Frees the model in the process."""
        if self._child.ends == self._ends:
            self._ask("close", {})

    def _ask(self, what: str, values: Mapping[str, Any], arrays: Sequence[Array] = ()) -> Message:
        if self._child.ends != self._ends:
            raise ModelError(f"the process of {self._child.name} with {self.name} has ended: load the model again")
        return self._child.ask(what, self.name, {"number": self._number, **values}, [np.asarray(a) for a in arrays])


ENGINES: Registry[type[Engine]] = Registry(
    "engine",
    {
        "litert": "qrt.models.engines.litert:LiteRT",
        "litert-ref": "qrt.models.engines.litert:LiteRT",
        "ort": "qrt.models.engines.ort:OnnxRuntime",
    },
)
"""The runtimes, by the names of the profiles that say what they compute."""


class ServedModel(Protocol):
    """A model in the child process."""

    def ports(self) -> Mapping[str, Sequence[Any]]:
        """``inputs`` and ``outputs``, each as index, name, shape and dtype, and the ``keys`` of the outputs."""

    def run(self, arrays: Sequence[Array], tensors: Sequence[Any] | None) -> list[Array]:
        """The outputs of a run, or these tensors."""

    def readable(self) -> Sequence[Key]:
        """The tensors that a run can return."""

    def reset(self) -> None:
        """Makes the state what it is after loading."""

    def timed(self, arrays: Sequence[Array], repeats: int) -> float:
        """The seconds of a call."""


def handlers_of(make: Callable[[bytes, Mapping[str, Any]], ServedModel]) -> dict[str, Handler]:
    """The handlers of models that ``make`` makes of the bytes of a file, and of what `Engine.load` says."""
    loaded: dict[int, ServedModel] = {}

    def load(values: dict[str, Any], arrays: list[Array]) -> Message:
        model = make(arrays[0].tobytes(), values)
        number = max(loaded, default=0) + 1
        loaded[number] = model
        return {"number": number, **model.ports()}, []

    def run(values: dict[str, Any], arrays: list[Array]) -> Message:
        return {}, loaded[values["number"]].run(arrays, values["tensors"])

    def readable(values: dict[str, Any], arrays: list[Array]) -> Message:
        return {"tensors": loaded[values["number"]].readable()}, []

    def reset(values: dict[str, Any], arrays: list[Array]) -> Message:
        loaded[values["number"]].reset()
        return {}, []

    def timed(values: dict[str, Any], arrays: list[Array]) -> Message:
        return {"seconds": loaded[values["number"]].timed(arrays, int(values["repeats"]))}, []

    def close(values: dict[str, Any], arrays: list[Array]) -> Message:
        del loaded[values["number"]]
        return {}, []

    return {"load": load, "run": run, "readable": readable, "reset": reset, "timed": timed, "close": close}
