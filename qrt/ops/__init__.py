"""The op families. The file of a family has its declaration, type inference, reference implementation and kernel call.

A family declares one operation on quantized types, such as ``conv2d``. The IR's op, the public function and the kernel
call are all made from this declaration. In this package, the operands of a family are plain arrays of storage integers.

- `declare.py` has `Traits`, the facts about operations that fusion, exporters and quantization read; `core.py` has
  `OpFamily`. `FAMILIES` lists all families, and `family_of` finds the family of an operation.
- Start with `binary.py`, then the recipe "Add an op family" of CONTRIBUTING.md. `conv.py`, and then `csrc/core/conv`,
  choose the kernel of a convolution.
- Imports `types`, `kernels`, `_ext` and the packages below them; it does not import `tensor` and `ir`.

>>> sorted(FAMILIES)[:3]
['add', 'argmax', 'argmin']
"""

from collections.abc import Sequence
from typing import Any, Protocol

from qrt.ops import (
    binary,
    casts,
    clamp,
    conv,
    cumsum,
    depthwise,
    detections,
    dynamic,
    extremes,
    float_matmul,
    gather,
    lookup,
    lstm,
    matmul,
    mean,
    movement,
    pad,
    pairwise,
    pool,
    recurrent,
    resize,
    scatter,
    sigmoids,
    slices,
    slopes,
    softmax,
    top_k,
    transpose_conv,
)
from qrt.ops.core import OpFamily
from qrt.types import UniformType

_MODULES = (
    binary, casts, clamp, conv, cumsum, depthwise, detections, dynamic, extremes, float_matmul, gather, lookup,
    lstm, matmul, mean, movement, pad, pairwise, pool, recurrent, resize, scatter, sigmoids, slices, slopes,
    softmax, top_k, transpose_conv,
)  # fmt: skip
FAMILIES: dict[str, OpFamily] = {family.name: family for module in _MODULES for family in module.FAMILIES}
"""The families by name: each module lists its own in ``FAMILIES``."""


class FamilyOp(Protocol):
    """The interface of an IR operation that `family_of` needs: its name, and operands with types."""

    @property
    def name(self) -> str: ...

    @property
    def operands(self) -> Sequence[Any]: ...


def family_of(op: FamilyOp | None) -> OpFamily | None:
    """Return the family that declares an operation; None if there is none.

    A ``quant.cast`` belongs to the family ``dcast`` if its operand is quantized, else to ``qcast``.
    """
    if op is None:
        return None
    if op.name == "quant.cast":
        (type,) = [operand.type for operand in op.operands]
        return FAMILIES["dcast" if isinstance(getattr(type, "element", type), UniformType) else "qcast"]
    return family_named(op.name)


def family_named(op_name: str) -> OpFamily | None:
    """Return the family that declares an op, by the op's name in IR such as ``qrt.add``; None if there is none."""
    family = FAMILIES.get(op_name.partition(".")[2])
    return family if family is not None and op_name in family.declaration.ops else None


__all__ = ["FAMILIES", "OpFamily", "family_named", "family_of"]
