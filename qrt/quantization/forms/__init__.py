"""Recognition of op families in float code.

A reading is the op family that computes a value, and its operands. Fusion uses readings to make the bodies of regions,
and export uses them to write an operation in place of a body.
"""

from qrt.ir import Block, Value
from qrt.ops import FAMILIES
from qrt.quantization.forms.clamps import clamp, clamped, clamps_of
from qrt.quantization.forms.elements import behind, reading_once, shape_of
from qrt.quantization.forms.elementwise import binary, lookup, name_of_function
from qrt.quantization.forms.model import KernelForm, KernelMatch, Operand, Reader
from qrt.quantization.forms.movement import movement, pad
from qrt.quantization.forms.pools import average_pool, axis_reduction, max_pool, mean
from qrt.quantization.forms.products import products
from qrt.quantization.forms.softmax import softmax

__all__ = ["KernelForm", "KernelMatch", "Operand", "form_of", "is_alone", "kernel_names", "reading_of", "readings_of"]

_WITH_CLAMPS: tuple[Reader, ...] = (products, binary, average_pool, mean, axis_reduction)
"""Readers of families, some of which accept a clamp of their result."""


def _clamped(value: Value) -> list[KernelMatch]:
    """Return the readings of a clamped value as a family that includes the clamp."""
    return [
        clamped(reading, bounds)
        for bounds in clamps_of(value)
        for reader in _WITH_CLAMPS
        for reading in reader(bounds.source)
        if FAMILIES[reading.family].traits.ends_in_clamp
    ]


_READERS: tuple[Reader, ...] = (*_WITH_CLAMPS, max_pool, softmax, movement, pad, clamp, lookup, _clamped)


def readings_of(value: Value) -> list[KernelMatch]:
    """Return the readings of a value as the result of an op family, largest first.

    Only operations in the value's block are considered.
    """
    with reading_once():
        readings = [reading for reader in _READERS for reading in reader(value)]
    return sorted((reading for reading in readings if is_alone(reading)), key=lambda reading: -reading.size)


def is_alone(reading: KernelMatch) -> bool:
    """Return True if only the last operation's result is used outside of the reading."""
    inside = set(reading.operations) | set(reading.copied)
    last = reading.operations[-1]
    return all(
        user in inside
        for operation in reading.operations
        if operation is not last
        for result in operation.results
        for user in result.users
    )


def form_of(block: Block, kernel: str = "") -> KernelForm | None:
    """Return the body of a region as a call of one op family; None if it is not such a call.

    Parameters
    ----------
    block : Block
        The body. Its arguments are the operands, and its terminator returns one value.
    kernel : str
        The family to choose if several families can compute the body; by default, the one that covers the most
        operations.

    Returns
    -------
    KernelForm or None

    Examples
    --------
    >>> from qrt.ir import parse
    >>> text = '''func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    ...   %zero = arith.constant dense<0.0> : tensor<4xf32>
    ...   %y = arith.maximumf %x, %zero : tensor<4xf32>
    ...   return %y : tensor<4xf32>
    ... }'''
    >>> form = form_of(parse(text).functions[0].regions[0].blocks[0])
    >>> form.family, dict(form.attributes)
    ('clamp', {'min': 0.0, 'max': None})
    """
    reading = reading_of(block, kernel)
    if reading is None:
        return None
    operands = tuple(Operand(value.index, permutation) for value, permutation in reading.operands)
    return KernelForm(reading.family, operands, reading.attributes, reading.low, reading.high)


def reading_of(block: Block, kernel: str = "") -> KernelMatch | None:
    """Return the reading of a block's result whose operands are arguments of the block; None if there is none.

    A reading as the family ``kernel`` is preferred, then the largest one. For example, a clamped square of a tensor is
    a product, but also a function of one variable.
    """
    last = block.last
    if last is None or len(last.operands) != 1:
        return None
    every = readings_of(behind(last.operands[0], []))
    candidates = [reading for reading in every if all(value.owner is block for value, _ in reading.operands)]
    return next((reading for reading in candidates if reading.family == kernel), candidates[0] if candidates else None)


def kernel_names(reading: KernelMatch) -> tuple[str, ...]:
    """Return the names under which a target may have the kernel of a reading."""
    traits = FAMILIES[reading.family].traits
    if traits.tables:
        name = name_of_function(reading)
        return (reading.family,) if name is None else (name, reading.family)
    if traits.of_floats and (reading.low, reading.high) == (None, None):
        is_plain = all(permutation is None for _, permutation in reading.operands)
        if is_plain and len(shape_of(reading.operands[1][0])) == 2:
            return (reading.family, traits.of_floats)
    return (reading.family,)
