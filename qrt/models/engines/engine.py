"""Base classes of the engines (other runtimes): the process, a model loaded in it, and its request handlers."""

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
"""The key of a tensor in an engine: its index in the file for LiteRT, its name for ONNX Runtime."""


@dataclass(frozen=True)
class EnginePort:
    """An input or an output of a model.

    ``index`` is the tensor's index in the file (LiteRT), or the position among the model's inputs or outputs (ONNX
    Runtime, which identifies tensors by name).
    """

    index: int
    name: str
    shape: tuple[int, ...]
    dtype: str


class Engine:
    """An engine: another runtime in a child process. `load` starts the process if it is not running.

    Parameters
    ----------
    seconds : float, default 60
        The time limit of loading a model, and of each run.
    max_bytes : int, default 8 GiB
        The limit of the process's address space. Python and the engine without a model take less than 2 GiB.

    Raises
    ------
    ImportError
        If a package that the engine needs is not installed. The message says which optional dependency of qrt to
        install.
    """

    name: ClassVar[str]
    """The engine's name in messages."""
    profiles: ClassVar[Mapping[str, str]]
    """The value of the engine's own option (such as the op resolver) for each profile. The first is the default."""
    module: ClassVar[str]
    """The module whose handlers run in the process."""
    packages: ClassVar[Mapping[str, str]]
    """The packages that the engine needs, with the optional dependency of qrt that installs each."""

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
        """Load a model into the engine's process.

        Parameters
        ----------
        model : path or bytes
            The model file, or its content.
        profile : str, optional
            A key of the engine's ``profiles``, such as "litert". The default is the first key.
        threads : int, default 1
            The number of threads that an operator may use.
        keeps_tensors : bool, default False
            True makes all tensors readable after a run. The process then needs more memory, and operators are not
            fused.
        name : str, optional
            The model's name in errors. The default is the path.

        Returns
        -------
        LoadedModel

        Raises
        ------
        ModelError
            If there is no such profile, or the engine rejects the model, crashes or takes too long.
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
        model_name = name or path or "the model"
        values = {"path": path, "threads": threads, "profile": self.profiles[profile], "keeps": keeps_tensors}
        answer, _ = self._child.ask("load", model_name, values, [np.frombuffer(content, np.uint8)])
        return LoadedModel(self._child, model_name, answer)

    def close(self) -> None:
        """Kill the engine's process, with all models loaded in it."""
        self._child.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LoadedModel:
    """A model loaded in an engine's process. The model keeps its state from run to run until `reset`."""

    def __init__(self, child: Child, name: str, answer: Mapping[str, Any]) -> None:
        self._child, self._ends, self._number, self.name = child, child.ends, answer["number"], name
        self.inputs, self.outputs = (
            [EnginePort(index, port_name, tuple(shape), dtype) for index, port_name, shape, dtype in answer[which]]
            for which in ("inputs", "outputs")
        )
        self.output_keys: list[Key] = answer["keys"]
        """The engine's keys of the outputs."""

    def run(self, inputs: Sequence[Array], tensors: Sequence[Key] | None = None) -> list[Array]:
        """Run the model and return its outputs, or the tensors of the main graph with the keys ``tensors``.

        ``inputs`` are in the file's order. Their shapes may differ from the file's if the model can be resized.
        """
        return self._ask("run", {"tensors": None if tensors is None else [*tensors]}, inputs)[1]

    def readable(self) -> set[Key]:
        """Return the keys of the tensors that `run` can return: the numeric tensors that the engine keeps in memory."""
        return set(self._ask("readable", {})[0]["tensors"])

    def reset(self) -> None:
        """Reset the model's state to its values after loading."""
        self._ask("reset", {})

    def timed(self, inputs: Sequence[Array], repeats: int) -> float:
        """Return the mean time of a run in seconds, over ``repeats`` runs. Copying inputs and outputs is included."""
        return float(self._ask("timed", {"repeats": repeats}, inputs)[0]["seconds"])

    def close(self) -> None:
        """Free the model in the engine's process."""
        if self._child.ends == self._ends:
            self._ask("close", {})

    def _ask(self, what: str, values: Mapping[str, Any], arrays: Sequence[Array] = ()) -> Message:
        if self._child.ends != self._ends:
            raise ModelError(
                f"the process of {self._child.name} that had loaded {self.name} has ended: load the model again"
            )
        return self._child.ask(what, self.name, {"number": self._number, **values}, [np.asarray(a) for a in arrays])


ENGINES: Registry[type[Engine]] = Registry(
    "engine",
    {
        "litert": "qrt.models.engines.litert:LiteRT",
        "litert-ref": "qrt.models.engines.litert:LiteRT",
        "ort": "qrt.models.engines.ort:OnnxRuntime",
    },
)
"""The engines, by the names of the profiles that imitate their arithmetic."""


class ServedModel(Protocol):
    """Interface of a model inside the child process, which the request handlers call."""

    def ports(self) -> Mapping[str, Sequence[Any]]:
        """Return a description of the inputs and outputs, as a dict.

        "inputs" and "outputs" are lists of (index, name, shape, dtype). "keys" is the list of the outputs' keys.
        """

    def run(self, arrays: Sequence[Array], tensors: Sequence[Any] | None) -> list[Array]:
        """Run the model on ``arrays`` and return its outputs, or the tensors with the keys ``tensors``."""

    def readable(self) -> Sequence[Key]:
        """Return the keys of the tensors that `run` can return."""

    def reset(self) -> None:
        """Reset the model's state to its values after loading."""

    def timed(self, arrays: Sequence[Array], repeats: int) -> float:
        """Return the mean time of a run in seconds, over ``repeats`` runs."""


def handlers_of(make: Callable[[bytes, Mapping[str, Any]], ServedModel]) -> dict[str, Handler]:
    """Return the request handlers of an engine, by name: "load", "run", "readable", "reset", "timed" and "close".

    ``make(content, options)`` creates a model; ``options`` are the arguments of `Engine.load` as sent by the parent.
    """
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
