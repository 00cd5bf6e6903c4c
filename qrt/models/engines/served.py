"""What the child process of an engine answers: it holds models by number, and asks them what the parent asks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from qrt.models.engines.channel import Message
from qrt.models.engines.child import Handler
from qrt.models.engines.engine import Key
from qrt.ops.core import Array


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
