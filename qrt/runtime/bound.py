"""Programs bound to arrays: the arrays are checked once, and calls take no arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np

from qrt._ext.kernels import Frame
from qrt.errors import KernelError, ModelError, require, shown
from qrt.ops.core import Array, element_dtype
from qrt.runtime.plan import Plan
from qrt.runtime.ports import Port
from qrt.runtime.values import State, check_range, empty
from qrt.tensor.calls import Tensor


class BoundProgram:
    """A program bound to the arrays that each call reads and writes, made by ``Program.bind``.

    ``inputs`` and ``outputs`` are these arrays by name. Only one thread may run the bound program at a time.
    """

    def __init__(
        self,
        name: str,
        plan: Plan,
        state: State | None,
        inputs: dict[str, Array],
        outputs: dict[str, Array],
        narrow: Sequence[Port],
        names: Sequence[str],
    ) -> None:
        self.name, self.inputs, self.outputs = name, inputs, outputs
        self._given = {name: out.shape for name, out in outputs.items()}
        self._plan, self._state, self._narrow, self._names = plan, state, narrow, names
        self._lock = Lock()
        arrays = (*inputs.values(), *outputs.values())
        self._frame: Frame | None = None if plan.executable is None else plan.executable.bind(arrays)
        self._is_plain = self._frame is not None and not narrow and not plan.states

    def __call__(self) -> None:
        """Run the program on the current values of the inputs, and write the outputs."""
        try:
            self._call()
        except KernelError as error:
            self._plan.raise_located(error)

    def _call(self) -> None:
        if self._is_plain and self._frame is not None:
            self._frame.run()
            return
        for port in self._narrow:
            check_range(self.inputs[port.name], port.type, f"input {port.name!r}")
        if self._state is None:
            self._run({})
        else:
            with self._state.lock:
                self._run(self._state.arrays)

    def _fill(self, name: str, result: Array) -> None:
        """Copy a result to its output array.

        If the program allocated the array, because the shape is known only at run time, a result of another shape
        replaces the array. If the caller gave the array, another shape raises ModelError.
        """
        out = self.outputs.get(name)
        if out is not None and out.shape == result.shape:
            np.copyto(out, result)
        elif name in self._given:
            given = list(self._given[name])
            raise ModelError(
                f"the array bound to output {name!r} must have the shape of the result, {list(result.shape)}, got "
                f"{given}"
            )
        else:
            self.outputs[name] = result.copy()

    def _run(self, state: dict[str, Array]) -> None:
        if self._frame is not None:
            self._frame.run(self._plan.state_arrays(state))
            return
        if not self._lock.acquire(blocking=False):
            raise ModelError(
                f"a bound call of {self.name} must not run in two threads at once: call Program.bind once for each "
                "thread"
            )
        try:
            results = self._plan.run(list(self.inputs.values()), state=state)
            for name, result in zip(self._names, results, strict=True):
                self._fill(name, result)
        finally:
            self._lock.release()


def bound_inputs(given: Sequence[Any], ports: Sequence[Port]) -> dict[str, Array]:
    """Return the caller's input arrays by name. Raise ModelError if a dtype, shape or layout does not fit its input."""
    return {p.name: _own_array(value, p, f"input {p.name!r}", False) for value, p in zip(given, ports, strict=True)}


def bound_outputs(
    given: Mapping[str, Any], ports: Sequence[Port], plan: Plan, inputs: Mapping[str, Array]
) -> dict[str, Array]:
    """Return the output arrays by name: the caller's, after checks, and new arrays for the other outputs.

    An output whose shape is known only at run time is left out, unless the caller gives its array.
    """
    require(given, Mapping, "'outputs'", "a mapping of names to arrays")
    names = [port.name for port in ports]
    if unknown := set(given) - set(names):
        raise ModelError(f"no output is named {min(map(shown, unknown))}; the outputs are {', '.join(names) or 'none'}")
    arrays: dict[str, Array] = {}
    for port, result in zip(ports, plan.results, strict=True):
        what = f"output {port.name!r}"
        if port.name in given:
            known = port if result is None else replace(port, type=result)
            arrays[port.name] = _own_array(given[port.name], known, what, True)
        elif result is not None:
            arrays[port.name] = empty(result)
    _check_disjoint(inputs, arrays)
    return arrays


def _own_array(value: Any, port: Port, what: str, written: bool) -> Array:
    """Return the caller's own array, not a copy. Raise ModelError if kernels cannot read or write it in place.

    ``what`` names the input or output in errors. ``written`` is True for an output.
    """
    t, array = port.type, value
    if isinstance(value, Tensor) and not written:
        if value.type is not t.element:
            raise ModelError(f"{what} must be {t}, got a QuantTensor of {value.type}")
        array = value._data
    if not isinstance(array, np.ndarray):
        use = "writes its result into it" if written else "reads it again"
        raise ModelError(f"{what} must be a NumPy array, because each call {use}, got {shown(value)}")
    dtype = element_dtype(t.element)
    if array.dtype != dtype or not array.dtype.isnative:
        raise ModelError(f"{what} must be of dtype {dtype}, because its type is {t}, got dtype {array.dtype}")
    wanted = t.shape or ()
    if len(wanted) != array.ndim or any(w not in (None, g) for w, g in zip(wanted, array.shape, strict=True)):
        raise ModelError(f"{what} must be {t}, got shape {list(array.shape)}")
    if not array.flags.c_contiguous or not array.flags.aligned:
        raise ModelError(f"{what} must be C-contiguous and aligned, because calls access it without a copy")
    if written and not array.flags.writeable:
        raise ModelError(f"{what} must be writable, because each call writes its result into it, but is read-only")
    return array


def _check_disjoint(inputs: Mapping[str, Array], outputs: Mapping[str, Array]) -> None:
    """Raise ModelError if an output shares memory with an input or another output."""
    checked = [(f"input {name!r}", array) for name, array in inputs.items()]
    for name, array in outputs.items():
        for other, other_array in checked:
            if np.may_share_memory(array, other_array):
                raise ModelError(f"the arrays of output {name!r} and {other} must not share memory, but they do")
        checked.append((f"output {name!r}", array))
