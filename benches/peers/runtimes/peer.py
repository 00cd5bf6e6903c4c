"""The interface of a runtime to a case."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benches.peers.cases import Case


@dataclass(frozen=True)
class Peer:
    """``call()`` runs the op once; ``result()`` is the last result, u8 or s8 where it is quantized."""

    call: Callable[[], object]
    result: Callable[[], np.ndarray]
    keeps: Any = None  # what the call needs and does not keep alive itself


Make = Callable[[Case, int], Peer | None]
"""Of a case and a number of threads; None where the runtime has no such op."""


def latest(function: Callable[[], Any], as_array: Callable[[Any], np.ndarray]) -> Peer:
    """A function that returns its result each time."""
    kept: list[Any] = [None]

    def call() -> None:
        kept[0] = function()

    return Peer(call, lambda: as_array(kept[0]))
