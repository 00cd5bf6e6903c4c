"""Comparison of the tensors that a model computes in qrt and in another runtime on the same inputs.

Each operator in qrt gets as operands the tensors that the other runtime computed, not those that qrt computed.
A difference in one operator therefore does not change the operands of the next.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from qrt.errors import ModelError, QuantTypeError, shown
from qrt.ir import Module, Operation, StringAttr
from qrt.models.diff.tally import DifferenceTally
from qrt.models.engines.engine import Engine
from qrt.models.importing.comparison_source import (
    Alone,
    Bound,
    ComparedTensor,
    ComparisonSource,
    Run,
    bounds_of_outputs,
    named_values,
)
from qrt.models.importing.source import Source
from qrt.models.onnx.comparison_source import compared as onnx_compared
from qrt.models.profiles import Profile
from qrt.models.profiles import profile as profile_of
from qrt.models.tflite.comparison_source import compared as tflite_compared
from qrt.ops import family_of
from qrt.ops.core import Array
from qrt.quantization.calibration.observe import name_of, tapped_program
from qrt.quantization.report.differences import Differences, TensorDifference
from qrt.runtime.compilation import compile
from qrt.runtime.functions import choose
from qrt.runtime.program import Program
from qrt.tensor import QuantTensor


@dataclass
class _TensorTally:
    """A tensor that is compared, with the counts of the elements in which qrt and the other runtime differ.

    ``maker`` is the last operation that the importer emitted for the tensor's operator.
    """

    tensor: ComparedTensor
    tally: DifferenceTally
    maker: Operation | None
    is_readable: bool


class ModelComparison:
    """A comparison of a model in qrt and in another runtime on the same inputs, over one or more runs.

    Both runtimes carry the model's state, such as its variables, from one run to the next.

    Parameters
    ----------
    source : path or bytes
        The model file, or its content.
    engine : Engine
        The other runtime.
    profile : str
        The profile of the other runtime: "litert", "litert-ref" or "ort".
    rules : str, optional
        The profile with which qrt imports the model. The default is ``profile``.
    ulp : int, optional
        The largest allowed difference of floats, in units in the last place. The default depends on the operator.
    whole : Bound, optional
        The largest allowed difference of the model's float outputs when each runtime computes the whole model alone.
        (Single operators are compared on the same operands, which qrt takes from the other runtime.) The default for
        each output is the greatest bound of the operators from which it is computed, and at least
        ``Bound(is_sum=True)``.
    threads : int
        The number of threads of the other runtime.
    every_tensor : bool
        True compares every operator's result. False compares only the model's outputs.
    interpret : bool
        True computes the model's outputs in qrt by the interpreter instead of the kernels.
    max_bytes : int, default 2 GiB
        The largest memory that the model may take in qrt, as for `qrt.load`.
    shapes : mapping of str to sequence of int, optional
        The shapes with which inputs are imported, by name, as for `qrt.load`.

    Raises
    ------
    ModelError
        If the file is malformed or not supported by qrt, or the other runtime rejects the file.
    QuantTypeError
        If a profile does not exist, or if the engine does not run files of the profile's format.
    """

    def __init__(
        self,
        source: Source,
        engine: Engine,
        profile: str = "litert",
        *,
        rules: str | None = None,
        ulp: int | None = None,
        whole: Bound | None = None,
        threads: int = 1,
        every_tensor: bool = True,
        interpret: bool = False,
        max_bytes: int = 2 << 30,
        shapes: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        self.file = _compared(
            source, engine, profile_of(profile), profile_of(rules or profile), max_bytes, shapes or {}
        )
        self.profile, self.runs, self._interpret, self._engine = profile, 0, interpret, engine.name
        module = self.file.module
        name = str(choose(module, None).attributes["sym_name"].python)
        self.program = compile(module, name)
        self.loaded = engine.load(
            source, profile=profile, threads=threads, keeps_tensors=every_tensor, name=self.file.name
        )
        self._watched: dict[str, _TensorTally] = {}
        self._tapped: Program | None = None
        readable: Collection[Any] = ()
        if every_tensor:
            tapped = Module(module.operation.clone({}), module.upstream)
            values = named_values(choose(tapped, name))
            readable = self.loaded.readable()
            for tensor in self.file.tensors:
                value = values.get(tensor.name)
                tally = DifferenceTally(tensor.bound if ulp is None else replace(tensor.bound, ulp=ulp))
                maker = None if value is None else value.operation
                self._watched[tensor.name] = _TensorTally(tensor, tally, maker, tensor.key in readable)
            taps = {value: name for name, value in values.items() if self._is_compared(name)}
            self._tapped = tapped_program(tapped, name, taps)
        self._keys = [watched.tensor.key for watched in self._watched.values() if watched.is_readable]
        operands = (key for watched in self._watched.values() for key in watched.tensor.reads if key in readable)
        self._keys = [*dict.fromkeys([*self._keys, *operands])]
        bounds = bounds_of_outputs(choose(module, name), self.file.tensors)
        self._outputs = [DifferenceTally(whole or bound) for bound in bounds]

    def add(self, inputs: Sequence[Array]) -> None:
        """Run the model in qrt and in the other runtime, and count the differences of all compared tensors.

        ``inputs`` are the model's inputs in the file's order.

        Raises
        ------
        ModelError
            If qrt or the other runtime rejects the inputs, or if their results differ in shape or dtype.
        """
        self.runs += 1
        named = {port.name: array for port, array in zip(self.program.inputs, inputs, strict=True)}
        computed = self.loaded.run(inputs, [*self._keys, *self.loaded.output_keys])
        theirs = dict(zip(self._keys, computed, strict=False))
        known: dict[Any, Array] = {**named, **theirs}
        results = self.program.run(named, interpret=self._interpret)
        for tally, port, ours, other in zip(
            self._outputs, self.program.outputs, results.values(), computed[len(self._keys) :], strict=True
        ):
            # An operator whose result is the output gets the same bound here as in its own comparison.
            self._count(tally, "output", port.name, _stored(ours), other, known)

        def tap(op: Operation, value: Any) -> Array:
            watched = self._watched[name_of(op)]
            other = theirs[watched.tensor.key]
            self._count(watched.tally, "tensor", watched.tensor.name, np.asarray(value), other, known)
            return other

        if self._tapped is not None:
            self._tapped.run_arrays(self._tapped.arrays_of(named), tap=tap)

    def reset(self) -> None:
        """Reset the model's state in both runtimes to its initial values."""
        self.loaded.reset()
        self.program.reset()
        if self._tapped is not None:
            self._tapped.reset()

    def result(self) -> Differences:
        """Return the differences counted in all runs so far."""
        outputs = tuple(
            _difference(port.name, "", "", tally)
            for port, tally in zip(self.program.outputs, self._outputs, strict=True)
        )
        tensors = tuple(map(self._described, self._watched.values()))
        engine = f"{self._engine} ({self.profile})"
        return Differences(self.file.name, engine, self.runs, tensors, outputs, self.file.inside)

    def close(self) -> None:
        """Free the model in the other runtime's process. The process itself keeps running."""
        self.loaded.close()

    def _is_compared(self, name: str) -> bool:
        watched = self._watched.get(name)
        return watched is not None and watched.is_readable

    def _count(
        self, tally: DifferenceTally, kind: str, name: str, ours: Array, theirs: Array, known: Mapping[Any, Array]
    ) -> None:
        """Count the elements in which qrt's ``ours`` and the other runtime's ``theirs`` differ more than allowed.

        ``name`` is the name of the tensor or of the model's output. ``kind`` ("tensor" or "output") is for error
        messages. ``known`` has the tensors that the other runtime computed, by key.
        """
        watched, room, interval = self._watched.get(name), None, None
        if watched is not None:
            tensor = watched.tensor
            ours = _with_stated_differences(tensor, known, ours, theirs)
            if tensor.alone is not None and all(key in known for key in tensor.reads):
                run = partial(_run_alone, tensor.alone, {key: known[key] for key in tensor.reads})
                room = partial(_rounding_room, tensor, run)
                interval = None if tensor.interval is None else partial(tensor.interval, run)
        try:
            tally.add(ours, theirs, room, interval)
        except ValueError as error:
            raise ModelError(
                f"{kind} {shown(name)} must have the same type and shape in qrt and {self._engine}, got {error}"
            ) from None

    def _described(self, watched: _TensorTally) -> TensorDifference:
        tensor, maker = watched.tensor, watched.maker
        if maker is None or not watched.is_readable:
            skipped = "not a value of the program" if maker is None else f"{self._engine} does not give access to it"
            return TensorDifference(tensor.name, tensor.operator, "", 0, 0, 0, skipped=skipped)
        computes = _computes(maker)
        rule = computes.attributes.get("requant") or computes.attributes.get("rule")
        op = f"{computes.name}{f' {rule.value}' if isinstance(rule, StringAttr) else ''}"
        return _difference(tensor.name, tensor.operator, op, watched.tally)


def _compared(
    source: Source,
    engine: Engine,
    profile: Profile,
    rules: Profile,
    max_bytes: int,
    shapes: Mapping[str, Sequence[int]],
) -> ComparisonSource:
    """Import a file with the rounding rules of the profile ``rules``, to compare the result with ``engine``.

    ``profile`` is the profile that the engine runs. Raise QuantTypeError if the engine does not have this profile, or
    if ``rules`` is a profile for another file format.
    """
    for checked in (profile, rules):
        if checked.suffix != profile.suffix or profile.name not in engine.profiles:
            raise QuantTypeError(
                f"the profile for {engine.name} must be {' or '.join(engine.profiles)}, got {shown(checked.name)}"
            )
    return _IMPORTERS[profile.suffix](source, rules, max_bytes, shapes)


_IMPORTERS: Mapping[str, Callable[[Source, Profile, int, Mapping[str, Sequence[int]]], ComparisonSource]] = {
    ".tflite": tflite_compared,
    ".onnx": onnx_compared,
}


_RENAMES = ("quant.scast", "tensor.bitcast")


def _is_carrying(op: Operation) -> bool:
    """Return True if an op only clamps elements, permutes axes, or reinterprets the element type."""
    family = family_of(op)
    carries = family is not None and (family.traits.bounds is not None or family.traits.permutation is not None)
    return carries or op.name in _RENAMES


def _computes(maker: Operation) -> Operation:
    """Return the op whose arithmetic computes a tensor. ``maker`` is the last op that the importer emitted for it.

    Ops that only clamp, transpose or reinterpret are skipped, from ``maker`` backwards.
    """
    place = str(maker.location)
    while _is_carrying(maker):
        before = maker.operands[0].operation
        if before is None or str(before.location) != place:
            break
        maker = before
    return maker


def _run_alone(alone: Alone, operands: Mapping[int | str, Array], change: Callable[[Array], Array]) -> Array:
    """Run a program of one operator on ``operands``, and return its result as float64.

    ``change``, such as `numpy.abs`, is applied to each operand and to each of the operator's constants first.
    """
    program = compile(alone(change, operands))
    (result,) = program.run({str(key): change(array) for key, array in operands.items()}).values()
    return np.asarray(result, np.float64)


def _rounding_room(tensor: ComparedTensor, run: Run) -> Array:
    """Return, for each element, the largest difference that different orders of addition may cause.

    For an element that is a float32 sum of n products, this is ``2 * 2**-24 * n * sum(abs(products))``. ``run(change)``
    computes the tensor with ``change``, such as `numpy.abs`, applied to the operator's operands and constants.
    """
    terms = run(np.ones_like) if tensor.terms is None else tensor.terms
    return 2 * 2.0**-24 * terms * run(np.abs)


def _with_stated_differences(tensor: ComparedTensor, tensors: Mapping[Any, Array], ours: Array, theirs: Array) -> Array:
    """Return ``ours``, with elements of ``theirs`` where a difference in a cast from float to integer is documented.

    These are the elements cast from a NaN, or for float16 also from an infinity: each runtime stores another integer.
    If the tensor is not the result of such a cast, ``ours`` is returned unchanged.
    """
    floats = None if tensor.cast_of is None else tensors.get(tensor.cast_of)
    if floats is None or floats.shape != ours.shape or ours.shape != theirs.shape:
        return ours
    is_stated = ~np.isfinite(floats) if floats.dtype == np.float16 else np.isnan(floats)
    return np.where(is_stated, theirs, ours) if is_stated.any() else ours


def _stored(value: Any) -> Array:
    return np.asarray(value.storage if isinstance(value, QuantTensor) else value)


def _difference(name: str, operator: str, op: str, tally: DifferenceTally) -> TensorDifference:
    return TensorDifference(
        name, operator, op, tally.elements, tally.differ, tally.largest, tally.is_float, tally.skipped, tally.beyond,
        tally.within,
    )  # fmt: skip
