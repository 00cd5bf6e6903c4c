"""State: the values of ``ml_program.global`` that outlive a call of a program."""

import os
from threading import RLock
from weakref import WeakSet

import numpy as np

from qrt.ops.core import Array


class State:
    """The arrays of one stream of calls, by name of the global; one that is not there has its initial value. The call
    that reads and writes them holds the ``lock``."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.lock = RLock()
        _LIVING.add(self)


_LIVING: "WeakSet[State]" = WeakSet()


def _unlock() -> None:
    for state in _LIVING:
        state.lock = RLock()


os.register_at_fork(after_in_child=_unlock)  # a thread that held a lock is not there in the child


def store(arrays: dict[str, Array], name: str, array: Array) -> None:
    """Copies an array to that of a global, which stays where it is as long as its shape does."""
    held = arrays.get(name)
    if held is None or held.shape != array.shape:
        arrays[name] = np.array(array)
    else:
        np.copyto(held, array)
