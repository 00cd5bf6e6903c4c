"""Recognition of op families in float code.

An op family is an operation of `qrt` on all its types, such as `conv2d`. A match (`KernelMatch`) has the family that
computes a value, with its operands and the float operations that it replaces. Fusion makes regions of matches; export
writes the operation of a region's match.
"""

from qrt.ir import Block, Value
from qrt.ops import FAMILIES
from qrt.quantization.forms.clamps import clamp, clamped, clamps_of
from qrt.quantization.forms.elements import behind, caching_elements, shape_of
from qrt.quantization.forms.elementwise import binary, lookup, name_of_function
from qrt.quantization.forms.model import KernelForm, KernelMatch, Matcher, Operand
from qrt.quantization.forms.movement import movement, pad
from qrt.quantization.forms.pools import average_pool, axis_reduction, max_pool, mean
from qrt.quantization.forms.products import products
from qrt.quantization.forms.softmax import softmax

__all__ = ["KernelForm", "KernelMatch", "Operand", "form_of", "is_alone", "kernel_names", "match_of", "matches_of"]

_WITH_CLAMPS: tuple[Matcher, ...] = (products, binary, average_pool, mean, axis_reduction)
"""Matchers of families, some of which accept a clamp of their result."""


def _clamped(value: Value) -> list[KernelMatch]:
    """Return the matches of op families that clamp their own result, such as a `conv2d` followed by a relu."""
    return [
        clamped(match, bounds)
        for bounds in clamps_of(value)
        for matcher in _WITH_CLAMPS
        for match in matcher(bounds.source)
        if FAMILIES[match.family].traits.ends_in_clamp
    ]


_MATCHERS: tuple[Matcher, ...] = (*_WITH_CLAMPS, max_pool, softmax, movement, pad, clamp, lookup, _clamped)


def matches_of(value: Value) -> list[KernelMatch]:
    """Return each op family that computes a value, with its operands and the operations that it covers, largest first.

    Only operations in the value's block are covered, and only if nothing else uses their intermediate results.
    """
    with caching_elements():
        matches = [match for matcher in _MATCHERS for match in matcher(value)]
    return sorted((match for match in matches if is_alone(match)), key=lambda match: -match.size)


def is_alone(match: KernelMatch) -> bool:
    """Return True if only operations of the match use the intermediate results of its operations."""
    inside = set(match.operations) | set(match.copied)
    last = match.operations[-1]
    return all(
        user in inside
        for operation in match.operations
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
    match = match_of(block, kernel)
    if match is None:
        return None
    operands = tuple(Operand(value.index, permutation) for value, permutation in match.operands)
    return KernelForm(match.family, operands, match.attributes, match.low, match.high)


def match_of(block: Block, kernel: str = "") -> KernelMatch | None:
    """Return a match of a block's result whose operands are all arguments of the block; None if there is none.

    A match of the family ``kernel`` is preferred to larger matches. For example, the clamped square of a tensor is both
    a `mul` and a `lookup`.
    """
    last = block.last
    if last is None or len(last.operands) != 1:
        return None
    every = matches_of(behind(last.operands[0], []))
    candidates = [match for match in every if all(value.owner is block for value, _ in match.operands)]
    return next((match for match in candidates if match.family == kernel), candidates[0] if candidates else None)


def kernel_names(match: KernelMatch) -> tuple[str, ...]:
    """Return the names of the kernels that can compute a match: `tanh` and `lookup`, for example, for a tanh."""
    traits = FAMILIES[match.family].traits
    if traits.tables:
        name = name_of_function(match)
        return (match.family,) if name is None else (name, match.family)
    if traits.of_floats and (match.low, match.high) == (None, None):
        is_plain = all(permutation is None for _, permutation in match.operands)
        if is_plain and len(shape_of(match.operands[1][0])) == 2:
            return (match.family, traits.of_floats)
    return (match.family,)
