"""Which strides and offset a view of a memref has: the rules behind `memref.subview` and its kin.

`None` is a number that only the run knows.
"""

from collections.abc import Sequence
from itertools import pairwise

from qrt.ir.core.affine import AffineMapAttr, Expression
from qrt.ir.text.attribute_parser import AttributeParser
from qrt.types import MemRefType, StridedLayout
from qrt.types.scanner import Source

Number = int | None


def times(left: Number, right: Number) -> Number:
    if 0 in (left, right):
        return 0
    return None if left is None or right is None else left * right


def plus(left: Number, right: Number) -> Number:
    return None if left is None or right is None else left + right


def product(numbers: Sequence[Number]) -> Number:
    total: Number = 1
    for number in numbers:
        total = times(total, number)
    return total


def is_contiguous(type: MemRefType) -> bool:
    """Whether the layout is said to be that of a row-major buffer from its beginning."""
    return type.layout is None or type.layout == MemRefType(type.shape, type.element).strides


def has_identity_layout(type: MemRefType) -> bool:
    """Whether the layout is that of a type without one: in one dimension, a stride of 1 says nothing more."""
    return type.layout is None or type.layout == StridedLayout((1,), 0)


def strides_of(type: MemRefType, symbols: Sequence[int] = ()) -> StridedLayout | None:
    """The strides and offset of a memref, whose layout may be a map that says them; None of other maps, and of an
    unranked memref. `symbols` are the numbers of the map's symbols, where they are known.

    >>> from qrt.types import parse_type
    >>> [str(strides_of(parse_type(f"memref<4x4xf32, affine_map<(i, j)[n] -> ({map})>>")))
    ...  for map in ("i * 8 + j + n", "i * n + j * 2 + 5", "j, i", "i floordiv 2 + j")]
    ['strided<[8, 1], offset: ?>', 'strided<[?, 2], offset: 5>', 'None', 'None']
    """
    if not isinstance(type.layout, str):
        return type.strides
    map = AttributeParser(Source(type.layout), allow_unregistered=False).attribute()
    if not isinstance(map, AffineMapAttr) or len(map.results) != 1:
        return None
    terms = _strided_terms(map.results[0], symbols)
    return None if terms is None else StridedLayout(tuple(terms.get(i, 0) for i in range(map.dimensions)), terms[-1])


def _strided_terms(value: Expression, symbols: Sequence[int]) -> dict[int, Number] | None:
    """The stride of each dimension that an expression names, and the offset at -1; None if it is no sum of them."""
    if isinstance(value, int):
        return {-1: value}
    if value[0] == "d":
        return {-1: 0, value[1]: 1}
    if value[0] == "s":
        return {-1: symbols[value[1]] if symbols else None}
    operator, left, right = value
    first, second = _strided_terms(left, symbols), _strided_terms(right, symbols)
    if first is None or second is None:
        return None
    if operator == "+":
        return {part: plus(first.get(part, 0), second.get(part, 0)) for part in [*first, *second]}
    if len(second) > 1:
        first, second = second, first
    if len(second) > 1 or operator != "*":
        return None
    return {part: times(number, second[-1]) for part, number in first.items()}


def is_minor_unit(type: MemRefType) -> bool:
    """Tell whether neighbours along the last dimension are known to be neighbours in the buffer.

    >>> from qrt.types import parse_type
    >>> [is_minor_unit(parse_type(f"memref<4x4xf32, affine_map<(i, j) -> ({map})>>")) for map in ("i * 8 + j", "j, i")]
    [True, False]
    """
    layout = strides_of(type)
    return layout is not None and (not layout.strides or layout.strides[-1] == 1)


def subview(
    source: MemRefType, offsets: Sequence[Number], sizes: Sequence[Number], steps: Sequence[Number]
) -> MemRefType | None:
    """The type of a view of every `steps`-th element from `offsets` on; None where the source's strides are not known.

    >>> from qrt.types import FloatType
    >>> str(subview(MemRefType((8, 8), FloatType("f32")), (0, 2), (4, 2), (1, 3)))
    'memref<4x2xf32, strided<[8, 3], offset: 2>>'
    """
    layout = strides_of(source)
    if layout is None:
        return None
    offset = layout.offset
    for start, stride in zip(offsets, layout.strides, strict=True):
        offset = plus(offset, times(start, stride))
    strides = [times(stride, step) for stride, step in zip(layout.strides, steps, strict=True)]
    return MemRefType(sizes, source.element, StridedLayout(tuple(strides), offset), source.space)


def expanded(source: MemRefType, groups: Sequence[Sequence[int]], shape: Sequence[Number]) -> MemRefType | None:
    """The type of a memref whose dimension i becomes the dimensions `groups[i]` of `shape`."""
    layout = strides_of(source)
    if layout is None:
        return None
    if has_identity_layout(source):
        return MemRefType(shape, source.element, None, source.space)
    strides: list[Number] = []
    for group, stride in zip(groups, layout.strides, strict=True):
        strides += [
            times(stride, product([shape[inner] for inner in group[index + 1 :]])) for index in range(len(group))
        ]
    return MemRefType(shape, source.element, StridedLayout(tuple(strides), layout.offset), source.space)


def collapsed(source: MemRefType, groups: Sequence[Sequence[int]], shape: Sequence[Number]) -> MemRefType | None:
    """The type of a memref whose dimensions `groups[i]` become dimension i of `shape`; None where they are known not to
    be contiguous."""
    layout = strides_of(source)
    if layout is None or source.shape is None:
        return None
    if has_identity_layout(source):
        return MemRefType(shape, source.element, None, source.space)
    strides = [_innermost_stride(source.shape, layout.strides, group) if group else 1 for group in groups]
    for group, stride in zip(groups, strides, strict=True):
        wanted = stride
        for outer, inner in reversed(list(pairwise(group))):
            wanted = times(wanted, source.shape[inner])
            found = layout.strides[outer]
            if source.shape[outer] != 1 and None not in (wanted, found) and wanted != found:
                return None
    return MemRefType(shape, source.element, StridedLayout(tuple(strides), layout.offset), source.space)


def _innermost_stride(shape: Sequence[Number], strides: Sequence[Number], group: Sequence[int]) -> Number:
    """The stride of dimensions that become one: that of the last whose size is not 1, whose own means nothing. An open
    size may turn out to be 1."""
    index = next((index for index in reversed(group) if shape[index] != 1), group[0])
    return None if shape[index] is None and index != group[0] else strides[index]
