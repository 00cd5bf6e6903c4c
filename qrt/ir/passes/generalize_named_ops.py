"""`linalg` ops with a name, as `linalg.generic`."""

from collections.abc import Sequence
from dataclasses import dataclass

from qrt.ir import Builder, Module, Operation, Value
from qrt.ir.core.folding import Folds
from qrt.ir.dialects.linalg.structure import StructuredOp, generic
from qrt.ir.rewriting.greedy import rewrite_greedily
from qrt.ir.rewriting.rewrite import Pattern


def generalize(operation: Operation, builder: Builder) -> list[Value]:
    """The `linalg.generic` of a structured op, with its body; its other attributes are gone."""
    assert isinstance(operation, StructuredOp)  # this is a pattern of such ops alone
    types, maps, kinds = [value.type for value in operation.results], operation.indexing_maps, operation.iterators
    (region,) = operation.take_regions()
    return generic(builder, operation.inputs, operation.outputs, types, maps, kinds, region)


def _patterns(operation: Operation) -> Sequence[Pattern]:
    return (generalize,) if isinstance(operation, StructuredOp) and operation.name != "linalg.generic" else ()


@dataclass(frozen=True)
class GeneralizeNamedOps:
    """Writes every named op of linalg as the linalg.generic it stands for. Changes no value.

    Folds, merges constants and removes dead operations on the way, as upstream's pass does.
    """

    def run(self, module: Module) -> None:
        rewrite_greedily(module.operation, Folds(), _patterns)
