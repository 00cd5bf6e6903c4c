"""A model beside LiteRT, tensor by tensor: each step of qrt gets LiteRT's own tensors, so that no difference of one is
carried into the next."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from qrt.engines.litert import LiteRT
from qrt.engines.tally import ULP, Tally
from qrt.errors import ModelError, shown
from qrt.execute.ports import choose
from qrt.execute.program import Program
from qrt.execute.tapped import TappedProgram, name_of
from qrt.formats.importing.node import TENSOR
from qrt.formats.tflite.importing import Graph, Importer, import_model
from qrt.formats.tflite.model import Operator
from qrt.formats.tflite.read import read
from qrt.ir import ArrayAttr, Module, Operation, StringAttr, Value
from qrt.ops.core import Array
from qrt.profiles import profile as profile_of
from qrt.report.differences import Differences, TensorDifference
from qrt.tensor import QuantTensor

SUMS = frozenset(
    {
        "AVERAGE_POOL_2D", "BATCH_MATMUL", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "L2_NORMALIZATION",
        "LOG_SOFTMAX", "MEAN", "SOFTMAX", "SUM", "SVDF", "TRANSPOSE_CONV", "UNIDIRECTIONAL_SEQUENCE_LSTM",
    }
)  # fmt: skip
"""Operators whose floats are sums: the order of the terms depends on the CPU, and where they cancel, little is left."""


@dataclass
class _Watched:
    """A tensor that an operator makes."""

    index: int
    name: str
    operator: Operator
    tally: Tally
    maker: Operation | None = None
    is_readable: bool = True


class Comparison:
    """A model in qrt and in LiteRT, which run on the same inputs. A model with state keeps it in both.

    Parameters
    ----------
    source : path or bytes
        The file.
    litert : LiteRT
        The process to run it in.
    profile : {"litert", "litert-ref"}
        The kernels of LiteRT.
    rules : str, optional
        The profile of qrt, if it is another.
    ulp : int
        How many units in the last place a float may lie apart.
    threads : int
        The threads of LiteRT.
    every_tensor : bool
        False compares the outputs of whole runs alone.
    interpret : bool
        Whether whole runs take the plain references instead of the kernels.
    """

    def __init__(
        self,
        source: str | PathLike[str] | bytes,
        litert: LiteRT,
        profile: str = "litert",
        *,
        rules: str | None = None,
        ulp: int = ULP,
        threads: int = 1,
        every_tensor: bool = True,
        interpret: bool = False,
    ) -> None:
        self.file = read(source)
        followed = profile_of(rules or profile)
        module = import_model(self.file, followed)
        self.profile, self.runs, self._interpret = profile, 0, interpret
        self._names = Graph(Importer(self.file, followed), self.file.subgraphs[0]).names
        name = str(choose(module, None).attributes["sym_name"].python)
        self.program = Program(module, name)
        self.loaded = litert.load(
            source, profile=profile, threads=threads, keeps_tensors=every_tensor, name=self.file.name
        )
        self._watched: dict[str, _Watched] = {}
        self._tapped: TappedProgram | None = None
        if every_tensor:
            tapped = Module(module.operation.clone({}), module.upstream)
            values = named_values(choose(tapped, name))
            self._watched = self._every_tensor(values, ulp)
            taps = {value: tensor for tensor, value in values.items() if self._is_compared(tensor)}
            self._tapped = TappedProgram(tapped, name, taps)
        self._indices = [tensor.index for tensor in self._watched.values() if tensor.is_readable]
        self._outputs = [Tally(ulp, is_sum=True) for _ in self.program.outputs]

    def add(self, inputs: Sequence[Array]) -> None:
        """Runs both on inputs in the file's order, and compares all tensors.

        Raises
        ------
        ModelError
            If one of them refuses the inputs, or if they make tensors of different shapes or dtypes.
        """
        self.runs += 1
        named = {port.name: array for port, array in zip(self.program.inputs, inputs, strict=True)}
        ports = self.loaded.outputs
        found = self.loaded.run(inputs, [*self._indices, *(port.index for port in ports)])
        theirs = dict(zip(self._indices, found, strict=False))
        results = self.program.run(named, interpret=self._interpret)
        for tally, port, ours, other in zip(
            self._outputs, ports, results.values(), found[len(self._indices) :], strict=True
        ):
            _count(tally, f"output {shown(port.name)}", _stored(ours), other)

        def tap(op: Operation, value: Any) -> Array:
            tensor = self._watched[name_of(op)]
            _count(tensor.tally, f"tensor {shown(tensor.name)}", np.asarray(value), theirs[tensor.index])
            return theirs[tensor.index]

        if self._tapped is not None:
            self._tapped.run_tapped(named, tap)

    def reset(self) -> None:
        """Makes the state of both what it is at the beginning."""
        self.loaded.reset()
        self.program.reset()
        if self._tapped is not None:
            self._tapped.reset()

    def result(self) -> Differences:
        """What was counted."""
        engine = f"LiteRT ({self.profile})"
        outputs = tuple(
            _difference(port.name, "", "", tally)
            for port, tally in zip(self.program.outputs, self._outputs, strict=True)
        )
        return Differences(self.file.name, engine, self.runs, tuple(map(_described, self._watched.values())), outputs)

    def close(self) -> None:
        """Frees the model in LiteRT's process."""
        self.loaded.close()

    def _every_tensor(self, values: Mapping[str, Value], ulp: int) -> dict[str, _Watched]:
        """The tensors that operators of the first subgraph make, by name."""
        readable, subgraph = self.loaded.readable(), self.file.subgraphs[0]
        found = {}
        for operator in subgraph.operators:
            for index in operator.outputs:
                if index < 0 or subgraph.tensors[index].dtype in ("resource", "string", "variant"):
                    continue
                name = self._names[index]
                value = values.get(name)
                found[name] = _Watched(
                    index,
                    name,
                    operator,
                    Tally(ulp, operator.name in SUMS),
                    None if value is None else value.operation,
                    index in readable,
                )
        return found

    def _is_compared(self, name: str) -> bool:
        tensor = self._watched.get(name)
        return tensor is not None and tensor.is_readable


def named_values(function: Operation) -> dict[str, Value]:
    """The values of a function that tensors of the file are, by their names."""
    found: dict[str, Value] = {}
    for op in function.regions[0].blocks[0].operations:
        said = op.attributes.get(TENSOR)
        if said is None:
            continue
        names: Iterable[Any] = said.elements if isinstance(said, ArrayAttr) else [said]
        for value, name in zip(op.results, names, strict=False):
            if isinstance(name, StringAttr) and name.value:
                found[name.value] = value
    return found


def _count(tally: Tally, what: str, ours: Array, theirs: Array) -> None:
    try:
        tally.add(ours, theirs)
    except ValueError as error:
        raise ModelError(f"{what} of qrt is not LiteRT's: {error}") from None


def _stored(value: Any) -> Array:
    return np.asarray(value.storage if isinstance(value, QuantTensor) else value)


def _described(tensor: _Watched) -> TensorDifference:
    operator = f"{tensor.operator.name} {tensor.operator.index}"
    maker, tally = tensor.maker, tensor.tally
    if maker is None or not tensor.is_readable:
        skipped = "no value of the program" if maker is None else "LiteRT does not keep it"
        return TensorDifference(tensor.name, operator, "", 0, 0, 0, skipped=skipped)
    rule = maker.attributes.get("requant") or maker.attributes.get("rule")
    op = f"{maker.name}{f' {rule.value}' if isinstance(rule, StringAttr) else ''}"
    return _difference(tensor.name, operator, op, tally)


def _difference(name: str, operator: str, op: str, tally: Tally) -> TensorDifference:
    return TensorDifference(
        name, operator, op, tally.elements, tally.differ, tally.largest, tally.is_float, tally.skipped
    )
