"""The pass `export-quant`, and the evaluation of region bodies that fills the tables of `lookup`."""

from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np

from qrt.errors import QuantTypeError
from qrt.ir import Builder, DenseElementsAttr, Module, Operation, Value
from qrt.ir.core.affine import plain_loops
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.passes.options import option
from qrt.ops import FAMILIES
from qrt.ops.core import Array, storage_dtype
from qrt.ops.traits import values_of_storage
from qrt.quantization.export.program import FORMS, export
from qrt.quantization.forms.elements import splat_of
from qrt.quantization.targets.model import Target
from qrt.quantization.targets.registry import find
from qrt.runtime.interpreter import TABLES
from qrt.runtime.interpreter.core import Compiler, ModuleCode, Run
from qrt.types import TensorType, UniformType

_MOST_STEPS = 1 << 16


@dataclass(frozen=True)
class ExportQuant:
    """Replaces the regions of a quantized program by operations that run, and their constants by stored integers.

    The types of the regions must have been chosen before, by propagate-quant.

    `to=fixed` writes `qrt` operations. `to=codegen` also lowers these by lower-qrt. `to=simulate` writes the float
    bodies, with casts to the type of each port and back. With `target`, a region whose kernel the target lacks is an
    error, and `to=fixed` writes the target's own operation where the target has one for a kernel.
    """

    to: str = option("fixed", "ops of qrt, integer arithmetic, or float bodies between casts", FORMS)
    target: str = option("", "the target that must have the kernel of every region")

    def __post_init__(self) -> None:
        if self.to not in FORMS:
            raise QuantTypeError(f"to must be one of {', '.join(FORMS)}, got {self.to!r}")

    def run(self, module: Module) -> None:
        export_regions(module, self.to, find(self.target) if self.target else None)


def export_regions(module: Module, to: str, target: Target | None) -> None:
    """Export the regions of a propagated program in the form ``to``: "fixed", "codegen" or "simulate".

    With a target, "fixed" writes the operations that the target registers for its kernels. Raises VerifyError at a
    region that cannot be exported, or whose kernel the target lacks.
    """
    code = ModuleCode(module, TABLES, saturating=False)
    export(module, to, target, partial(_table, code))


def _table(code: ModuleCode, region: RegionOp, number: int, x: UniformType, out: UniformType) -> Array:
    """Return the table of a `lookup`: the region's stored result for each storage value of operand ``number``.

    ``x`` and ``out`` are the quantized types of the operand and of the result. The references of `dcast`, the body's
    operations and `qcast` compute the entries. Storage values outside the bounds, which do not occur, get the nearest
    entry.
    """
    stored = values_of_storage(x).astype(storage_dtype(x))
    dcast, qcast = FAMILIES["dcast"], FAMILIES["qcast"]
    line = TensorType(stored.shape, x)
    given = dcast.resolve((line,), {})
    values = _run(code, region, number, dcast.reference([stored], (line,), given, {}))
    types = (given.with_(element=out.expressed_type),)
    result = qcast.resolve(types, qcast.complete({}), TensorType(stored.shape, out))
    (codes,) = qcast.compute([values], types, (result,), qcast.complete({}))
    return codes


def _run(code: ModuleCode, region: RegionOp, number: int, values: Array) -> Array:
    """Return the results of an elementwise region body for the ``values`` of operand ``number``, in the same order.

    If the operand is a tensor, one run of the body computes all of them; if it is a scalar, each value needs a run.
    """
    copy = region.clone({})
    copy.drop_operands()
    (block,) = copy.regions[0].blocks
    argument = block.arguments[number]
    for other in block.arguments:
        other.replace_all_uses(argument)  # an elementwise body reads only the extents of its other operands
    block.set_arguments([argument])
    rank = getattr(argument.type, "rank", None) or 0
    shape = (*[1] * (rank - 1), len(values)) if rank else ()
    for op in list(block):
        _reshape(op, getattr(argument.type, "shape", None), shape)
    argument.type = _shaped(argument, shape)
    compiler = Compiler(code)
    body = compiler.region(copy.regions[0])
    results = []
    for part in values.reshape(-1, prod(shape)):
        frame = compiler.template.copy()
        frame[0] = Run(_MOST_STEPS)
        with np.errstate(all="ignore"):
            (codes,) = body.run(frame, [part.reshape(shape) if rank else part[0]])
        results.append(np.asarray(codes).reshape(-1))
    return np.concatenate(results)


def _reshape(op: Operation, old: object, new: tuple[int, ...]) -> None:
    """Change the shape ``old`` of an operation's constant and results to ``new``, to run the body on other sizes."""
    if isinstance(op, StructuredOp):
        for number in range(len(op.operands)):
            if isinstance(op.operands[number].type, TensorType):
                _respread(op, number, new)
    constant = op.attributes.get("value")
    if isinstance(constant, DenseElementsAttr) and constant.type.shape == old:
        if not constant.is_splat:
            raise QuantTypeError("the body is not a function of one variable: a constant has several values")
        type = TensorType(new, constant.element)
        op.attributes["value"] = DenseElementsAttr(np.broadcast_to(constant.first, new), type)
    for value in op.results:
        if isinstance(value.type, TensorType) and value.type.shape == old:
            value.type = _shaped(value, new)


def _respread(op: StructuredOp, number: int, new: tuple[int, ...]) -> None:
    """Replace an operand by a splat that fits a result of the shape ``new``, if the operand is a splat or is not read.

    The operand's indexing map determines the shape of the splat, which may have fewer or other axes than the result.
    """
    splat, maps = splat_of(op.operands[number]), op.indexing_maps
    if splat is None and not op.regions[0].blocks[0].arguments[number].uses:
        splat = 0.0
    loops = plain_loops(maps[-1])
    if splat is None or loops is None or maps[number] == maps[-1]:
        return
    size = dict(zip(loops, new, strict=True))
    shape = tuple(size[part[1]] if isinstance(part, tuple) else 1 for part in maps[number].results)
    type = _shaped(op.operands[number], shape)
    op.set_operand(number, Builder(op).constant(splat, type))


def _shaped(value: Value, shape: tuple[int, ...]) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type.with_(shape=shape)
