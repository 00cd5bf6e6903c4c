"""Recognition of matrix products and convolutions, with or without bias, in named or generic `linalg` operations."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from qrt.ir import IntegerAttr, Operation, Value
from qrt.ir.core.matching import constant_of
from qrt.ir.dialects._shaped.lists import reassociation_of
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.quantization.forms.elements import (
    Axes,
    Expression,
    behind,
    body_expression,
    elements_of,
    repeated,
    shape_of,
    splat_of,
)
from qrt.quantization.forms.model import KernelMatch, Permutation
from qrt.quantization.forms.movement import padding_of

Linear = dict[int, int]
"""The factor of each loop in an index expression."""
_SUM_OF_PRODUCTS: list[Expression] = [
    ("arith.addf", *sum_)
    for product in (("arith.mulf", ("input", 0), ("input", 1)), ("arith.mulf", ("input", 1), ("input", 0)))
    for sum_ in ((("input", 2), product), (product, ("input", 2)))
] + [("math.fma", *factors, ("input", 2)) for factors in ((("input", 0), ("input", 1)), (("input", 1), ("input", 0)))]

_SUM_OF_INTEGERS: list[Expression] = [
    ("arith.addi", ("input", 2), ("arith.muli", ("input", 0), factor))
    for factor in (("input", 1), ("arith.extsi", ("input", 1)))
]


@dataclass(frozen=True)
class SumOfProducts:
    """A loop nest that adds the products of its first two operands to the third."""

    operation: StructuredOp
    indices: tuple[tuple[Linear, ...], ...]
    """The index expression of each axis of each operand."""

    def loops(self, operand: int) -> list[int] | None:
        """Return the loop that indexes each axis of an operand.

        Return None if an axis has an index that is not a single loop, or if two axes have the same loop.
        """
        plain = [next(iter(index)) for index in self.indices[operand] if list(index.values()) == [1]]
        return plain if len(plain) == len(self.indices[operand]) and len(set(plain)) == len(plain) else None


def products(value: Value) -> list[KernelMatch]:
    """Return the matches if a value is computed as a matrix product or a convolution, with or without a bias."""
    matches = _with_bias_in_sum(value) or _in_groups(value)
    elements = elements_of(value)
    if elements is not None and elements.computed[0] == "arith.addf" and len(elements.inputs) == 2:
        for number in (0, 1):
            if not elements.is_identity(number):
                continue
            passed: list[Operation] = []
            inner = behind(elements.inputs[number], passed)
            bias = _vector(elements.inputs[1 - number], elements.axes[1 - number], len(shape_of(value)))
            if bias is not None:
                for match in _with_bias_in_sum(inner) or _in_groups(inner):
                    if len(match.operands) == 2:
                        operations = (*match.operations, *reversed(passed), elements.operation)
                        matches += _biased(replace(match, operations=operations), *bias)
    return matches


def integer_products(value: Value) -> list[KernelMatch]:
    """Return the match if a value is a product or convolution of integers whose accumulator starts with 0.

    The second factor may have a narrower type than the accumulator. The result is a list, which is empty without a
    match.
    """
    sums = sum_of_products(value, _SUM_OF_INTEGERS)
    if sums is None or not _begins_with_zero(sums.operation):
        return []
    return (convolution(sums) or _matmul(sums))[:1]


def _begins_with_zero(operation: StructuredOp) -> bool:
    fill = operation.operands[2].operation
    number = None if fill is None or fill.name != "linalg.fill" else constant_of(fill.operands[0])
    return isinstance(number, IntegerAttr) and number.value == 0


def _biased(match: KernelMatch, bias: Value, passed: tuple[Operation, ...]) -> list[KernelMatch]:
    """Return the match with ``bias`` as an operand that is added to each row of the product.

    ``passed`` are the operations that broadcast the bias. The list is empty if the second factor is a vector.
    """
    if len(shape_of(match.operands[1][0])) < 2:
        return []
    with_bias = replace(match, operands=(*match.operands, (bias, None)), copied=(*match.copied, *passed))
    return [with_bias]


def _vector(value: Value, axes: Axes, rank: int) -> tuple[Value, tuple[Operation, ...]] | None:
    """Return the vector that a broadcast repeats along all axes but the last, and the operations of the broadcast.

    Returns None for any other value. ``axes`` are the axes of ``value`` in the result, and ``rank`` is the result's
    rank.
    """
    source, axes, passed = repeated(value, axes)
    return (source, passed) if axes == (rank - 1,) else None


def _with_bias_in_sum(value: Value) -> list[KernelMatch]:
    """Return the matches if a value is a sum of products whose accumulator starts with 0 or with a bias."""
    sums = sum_of_products(value)
    if sums is None:
        return []
    matches = convolution(sums) or _matmul(sums)
    start = sums.operation.operands[2]
    if splat_of(start) == 0:
        return matches
    bias = _vector(start, tuple(range(len(shape_of(start)))), len(shape_of(start)))
    return [] if bias is None else [biased for match in matches for biased in _biased(match, *bias)]


def sum_of_products(value: Value, forms: Sequence[Expression] = _SUM_OF_PRODUCTS) -> SumOfProducts | None:
    operation = value.operation
    if not isinstance(operation, StructuredOp) or len(operation.operands) != 3 or len(operation.results) != 1:
        return None
    if operation.input_count != 2 or body_expression(operation) not in forms:
        return None
    indices = [tuple(map(linear, map_.results)) for map_ in operation.indexing_maps]
    known = [tuple(index for index in indices_ if index) for indices_ in indices]
    if [len(some) for some in known] != [len(all_) for all_ in indices]:
        return None
    return SumOfProducts(operation, tuple(known))


def begins_sum_of_products(operation: StructuredOp) -> bool:
    """Return True if an operation adds the products of its first two operands to the third."""
    return bool(operation.results) and sum_of_products(operation.results[0]) is not None


def linear(expression: object) -> Linear | None:
    """Return the factor of each loop in an index expression, such as `{0: 2, 3: 1}` for `2 * d0 + d3`.

    Returns None if the expression is not a sum of loops times constants.
    """
    if not isinstance(expression, tuple):
        return None
    if expression[0] == "d":
        return {expression[1]: 1}
    operator, left, right = expression
    if operator == "*" and isinstance(right, int):
        inner = linear(left)
        return None if inner is None else {loop: factor * right for loop, factor in inner.items()}
    if operator == "+":
        parts = linear(left), linear(right)
        if parts[0] is not None and parts[1] is not None and not parts[0].keys() & parts[1].keys():
            return {**parts[0], **parts[1]}
    return None


def _permutation(own: Sequence[int], wanted: Sequence[int]) -> Permutation:
    """Return the permutation that reorders the loops ``own`` to ``wanted``; None if the orders are equal."""
    permutation = tuple(own.index(loop) for loop in wanted)
    return None if permutation == tuple(range(len(own))) else permutation


# -- matrix products -------------------------------------------------------------------------------------------------


def _matmul(sums: SumOfProducts) -> list[KernelMatch]:
    matches = [operands for first in (0, 1) if (operands := _matrices(sums, first)) is not None]
    matches.sort(key=lambda operands: len(shape_of(operands[1][0])), reverse=True)  # a matrix is `w`, a vector `a`
    return [KernelMatch("matmul", operands, (sums.operation,)) for operands in matches[:1]]


def _matrices(sums: SumOfProducts, first: int) -> tuple[tuple[Value, Permutation], ...] | None:
    """Return `a` and `w`, each with its permutation, if the sums are NumPy's `a @ w`; None otherwise.

    ``first`` is the number of the operand that is `a`.
    """
    a, w, out = sums.loops(first), sums.loops(1 - first), sums.loops(2)
    if a is None or w is None or out is None:
        return None
    summed = [loop for loop in a if loop not in out]
    if len(summed) != 1 or [loop for loop in w if loop not in out] != summed:
        return None
    batch = [loop for loop in out if loop in a and loop in w]
    rows = [loop for loop in out if loop in a and loop not in w]
    columns = [loop for loop in out if loop in w and loop not in a]
    if out != batch + rows + columns or len(columns) > 1 or (batch and (len(rows), len(columns)) != (1, 1)):
        return None
    values = sums.operation.operands[first], sums.operation.operands[1 - first]
    return (
        (values[0], _permutation(a, batch + rows + summed)),
        (values[1], _permutation(w, batch + summed + columns)),
    )


# -- convolutions ----------------------------------------------------------------------------------------------------


def convolution(sums: SumOfProducts) -> list[KernelMatch]:
    """Return the matches if a sum of products is a convolution of images by filters; otherwise an empty list.

    If the images are padded by zeros, a second match includes the padding.
    """
    out, filters = sums.loops(2), sums.loops(1)
    if out is None or filters is None or len(out) != 4 or len(sums.indices[0]) != 4:
        return []
    image, *windows, channel = out
    strides, taps, dilations = [], [], []
    places = []
    for window in windows:
        matches = [place for place, index in enumerate(sums.indices[0]) if window in index]
        index = sums.indices[0][matches[0]] if len(matches) == 1 else {}
        inner = [loop for loop in index if loop != window]
        if len(inner) != 1 or inner[0] in out:
            return []
        places.append(matches[0])
        strides.append(index[window])
        taps.append(inner[0])
        dilations.append(index[inner[0]])
    rest = [index for place, index in enumerate(sums.indices[0]) if place not in places]
    plain = [next(iter(index)) for index in rest if list(index.values()) == [1]]
    if len(plain) != 2 or image not in plain or min(*strides, *dilations) < 1:
        return []
    (depth,) = [loop for loop in plain if loop != image] or [image]
    own = [next((w for w in windows if w in index), next(iter(index))) for index in sums.indices[0]]
    if depth == channel and set(filters) == {*taps, channel} and len(filters) == 3:
        family, wanted = "depthwise_conv2d", [*taps, channel]
    elif depth not in out and set(filters) == {channel, *taps, depth} and len(filters) == 4:
        family, wanted = "conv2d", [channel, *taps, depth]
    else:
        return []
    images = _permutation(own, [image, *windows, depth])
    attributes = {"strides": tuple(strides), "dilations": tuple(dilations)}
    weights = sums.operation.operands[1], _permutation(filters, wanted)
    unpadded = KernelMatch(
        family, ((sums.operation.operands[0], images), weights), (sums.operation,), attributes=attributes
    )
    return [unpadded, *_padded(unpadded)]


_MERGED, _DIVIDED = "tensor.collapse_shape", "tensor.expand_shape"
_LAST_TWO = ((0,), (1,), (2,), (3, 4))


def _in_groups(value: Value) -> list[KernelMatch]:
    """Return the matches if a value is a grouped convolution, reshaped to merge the group and channel axes."""
    sums = sum_of_products(_reshaped_from(value, _MERGED, _LAST_TWO) or value)
    if sums is None or sums.operation is value.operation or splat_of(sums.operation.operands[2]) != 0:
        return []
    return grouped_convolution(sums)


def _reshaped_from(value: Value, name: str, groups: tuple[tuple[int, ...], ...]) -> Value | None:
    """Return the operand of the reshape ``name`` that computes a value by merging or dividing the axes in ``groups``.

    Returns None for any other value.
    """
    source = value.operation
    if source is None or source.name != name or tuple(map(tuple, reassociation_of(source))) != groups:
        return None
    return source.operands[0]


def grouped_convolution(sums: SumOfProducts) -> list[KernelMatch]:
    """Return the matches if a sum of products is a convolution in groups, whose reshapes become part of the match.

    The images are NHWGC and the filters GFHWC or HWCM between the reshapes, which the pass `normalize-layouts` writes.
    Outside of them, the images, the filters and the result have one axis of channels.
    """
    users, out, taps = list(sums.operation.results[0].users), sums.loops(2), sums.loops(1)
    if out is None or taps is None or len(out) != 5 or len(users) != 1 or not users[0].results:
        return []
    (merge,) = users
    image, height, width, group, channel = out
    is_grouped = len(sums.indices[0]) == 5
    images, filters, _ = sums.operation.operands
    family = "conv2d" if is_grouped else "depthwise_conv2d"
    wanted, places = [group, channel], ((2, 3) if is_grouped else (0, 1))
    divided: tuple[tuple[int, ...], ...] = ((0, 1), (2,), (3,), (4,)) if is_grouped else ((0,), (1,), (2, 3))
    outer = _reshaped_from(images, _DIVIDED, _LAST_TWO) if is_grouped else images
    inner = _reshaped_from(filters, _DIVIDED, divided)
    is_whole = _reshaped_from(merge.results[0], _MERGED, _LAST_TWO) is not None
    if not is_whole or outer is None or inner is None or len(taps) != (5 if is_grouped else 4):
        return []
    depth = [taps[4]] if is_grouped else []
    inside = [taps[place] for place in places]
    if taps != ([*wanted, *inside, *depth] if is_grouped else [*inside, *wanted]):
        return []
    strides, dilations = [], []
    for index, window, tap in zip(sums.indices[0][1:3], (height, width), inside, strict=True):
        if set(index) != {window, tap} or min(index.values()) < 1:
            return []
        strides.append(index[window])
        dilations.append(index[tap])
    plain = [image, group, *depth]
    if [sums.indices[0][0], *sums.indices[0][3:]] != [{loop: 1} for loop in plain]:
        return []
    attributes: dict[str, object] = {"strides": tuple(strides), "dilations": tuple(dilations)}
    if is_grouped:
        attributes["groups"] = shape_of(images)[3]
    reshapes = [value.operation for value in ((images, filters) if is_grouped else (filters,))]
    operations = (*(source for source in reshapes if source is not None), sums.operation, merge)
    match = KernelMatch(family, ((outer, None), (inner, None)), operations, attributes=attributes)
    return [match, *_padded(match)]


def _padded(match: KernelMatch) -> list[KernelMatch]:
    """Return the match of a convolution that pads its images by itself, given the match without the padding.

    The result is a list, which is empty if the program does not pad the images with zeros before the convolution.
    """
    (images, permutation), *others = match.operands
    padding = padding_of(images)
    if padding is None or padding.value != 0:
        return []
    axes = permutation or (0, 1, 2, 3)
    pairs = [(padding.low[axis], padding.high[axis]) for axis in axes]
    if pairs[0] != (0, 0) or pairs[3] != (0, 0):
        return []
    attributes = {**match.attributes, "padding": (pairs[1], pairs[2])}
    operands = ((padding.source, permutation), *others)
    operations = (*padding.operations, *match.operations)
    return [replace(match, operands=operands, operations=operations, attributes=attributes)]
