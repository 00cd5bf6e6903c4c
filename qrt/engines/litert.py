"""LiteRT, which runs .tflite files: its default build and its reference kernels. Only the child process imports it."""

import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from os import PathLike
from typing import Any

import numpy as np

from qrt.engines import engine
from qrt.engines.channel import Message
from qrt.engines.child import Child, Handler
from qrt.engines.engine import MAX_BYTES, SECONDS, Engine
from qrt.errors import ModelError, nearest, shown
from qrt.extras import extra
from qrt.ops.core import Array

PROFILES = {"litert": "BUILTIN", "litert-ref": "BUILTIN_REF"}
"""The resolver of operators of each profile."""


class LiteRT(Engine):
    """A process of LiteRT. It is started when a model is first loaded, and again after it crashed.

    Parameters
    ----------
    seconds : float, default 60
        How long loading or a run may take.
    max_bytes : int, default 8 GiB
        The address space of the process, of which Python and LiteRT themselves take less than 2 GiB.

    Raises
    ------
    ImportError
        If LiteRT is not installed: it comes with the extra ``litert``.
    """

    def __init__(self, *, seconds: float = SECONDS, max_bytes: int = MAX_BYTES) -> None:
        if find_spec("ai_edge_litert") is None:
            extra("ai_edge_litert", "litert")
        super().__init__(Child("qrt.engines.litert", "LiteRT", seconds, max_bytes))

    def load(
        self,
        model: str | PathLike[str] | bytes,
        *,
        profile: str = "litert",
        threads: int = 1,
        keeps_tensors: bool = False,
        name: str | None = None,
    ) -> "LoadedModel":
        """Loads a model.

        Parameters
        ----------
        model : path or bytes
            The file, or its content.
        profile : {"litert", "litert-ref"}
            The default build, or the reference kernels.
        threads : int, default 1
            How many threads an operator may use.
        keeps_tensors : bool, default False
            Whether all tensors can be read after a run. The process needs more memory, and the bits are the same.
        name : str, optional
            What errors call the model: the path if not given.

        Returns
        -------
        LoadedModel

        Raises
        ------
        ModelError
            If LiteRT refuses the model, crashes or takes too long.
        """
        if profile not in PROFILES:
            meant = nearest(profile, PROFILES) or " or ".join(PROFILES)
            raise ModelError(f"LiteRT has no profile {shown(profile)}; did you mean {meant}?")
        values = {"profile": profile, "keeps": keeps_tensors}
        return LoadedModel(self._child, *self._loaded(model, name, threads, values))


class LoadedModel(engine.LoadedModel):
    """A model in a process of LiteRT. Its state, if it has any, stays from run to run until ``reset``."""

    def run(self, inputs: Sequence[Array], tensors: Sequence[int] | None = None) -> list[Array]:
        """The outputs of a run, or the tensors of these indices of the first subgraph. Inputs are in the file's order;
        an input of another shape resizes the model's."""
        return self._ask("run", {"tensors": tensors}, inputs)[1]

    def readable(self) -> set[int]:
        """The indices of the tensors that a run can return: numbers that have memory."""
        return set(self._ask("readable", {})[0]["indices"])

    def reset(self) -> None:
        """Makes the state what it is after loading."""
        self._ask("reset", {})


class _Loaded:
    """A model in the child process."""

    def __init__(self, content: bytes, values: Mapping[str, Any]) -> None:
        self.content, self.values = content, values
        self.reset()

    def reset(self) -> None:
        """Makes the interpreter anew: LiteRT's own reset leaves resource variables as they are."""
        import warnings

        api = extra("ai_edge_litert.interpreter", "litert")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that keeping tensors takes memory
            self.interpreter = api.Interpreter(
                model_path=self.values["path"] or None,
                model_content=self.content or None,
                num_threads=self.values["threads"],
                experimental_op_resolver_type=getattr(api.OpResolverType, PROFILES[self.values["profile"]]),
                experimental_preserve_all_tensors=self.values["keeps"],
            )
        self.interpreter.allocate_tensors()

    def set(self, arrays: Sequence[Array]) -> None:
        details = self.interpreter.get_input_details()
        if len(arrays) != len(details):
            raise ValueError(f"the model takes {len(details)} inputs, got {len(arrays)}")
        if any(tuple(d["shape"]) != a.shape for d, a in zip(details, arrays, strict=True)):
            for detail, array in zip(details, arrays, strict=True):
                self.interpreter.resize_tensor_input(detail["index"], array.shape)
            self.interpreter.allocate_tensors()
        for detail, array in zip(details, arrays, strict=True):
            self.interpreter.set_tensor(detail["index"], array)

    def outputs(self) -> list[int]:
        return [int(detail["index"]) for detail in self.interpreter.get_output_details()]

    def get(self, indices: Sequence[int]) -> list[Array]:
        return [np.asarray(self.interpreter.get_tensor(index)) for index in indices]


def handlers() -> dict[str, Handler]:
    """What the child process answers."""
    extra("ai_edge_litert.interpreter", "litert")
    loaded: dict[int, _Loaded] = {}

    def load(values: dict[str, Any], arrays: list[Array]) -> Message:
        model = _Loaded(arrays[0].tobytes(), values)
        number = max(loaded, default=0) + 1
        loaded[number] = model
        details = {
            "inputs": model.interpreter.get_input_details(),
            "outputs": model.interpreter.get_output_details(),
        }
        said = {
            which: [(int(d["index"]), d["name"], [*map(int, d["shape"])], np.dtype(d["dtype"]).name) for d in found]
            for which, found in details.items()
        }
        return {"number": number, **said}, []

    def run(values: dict[str, Any], arrays: list[Array]) -> Message:
        model = loaded[values["number"]]
        model.set(arrays)
        model.interpreter.invoke()
        return {}, model.get(model.outputs() if values["tensors"] is None else values["tensors"])

    def readable(values: dict[str, Any], arrays: list[Array]) -> Message:
        # The tensors of handles have the type object, and reading one crashes.
        interpreter, found = loaded[values["number"]].interpreter, []
        for detail in interpreter.get_tensor_details():
            if np.dtype(detail["dtype"]).kind in "iufbc":
                try:
                    interpreter.get_tensor(detail["index"])
                except ValueError:
                    continue
                found.append(int(detail["index"]))
        return {"indices": found}, []

    def reset(values: dict[str, Any], arrays: list[Array]) -> Message:
        loaded[values["number"]].reset()
        return {}, []

    def timed(values: dict[str, Any], arrays: list[Array]) -> Message:
        model, repeats = loaded[values["number"]], int(values["repeats"])
        model.set(arrays)
        indices = [int(detail["index"]) for detail in model.interpreter.get_input_details()]
        invoke, set_tensor, outputs = model.interpreter.invoke, model.interpreter.set_tensor, model.outputs()
        start = time.perf_counter()
        for _ in range(repeats):
            for index, array in zip(indices, arrays, strict=True):
                set_tensor(index, array)
            invoke()
            model.get(outputs)
        return {"seconds": (time.perf_counter() - start) / repeats}, []

    def close(values: dict[str, Any], arrays: list[Array]) -> Message:
        del loaded[values["number"]]
        return {}, []

    return {"load": load, "run": run, "readable": readable, "reset": reset, "timed": timed, "close": close}
