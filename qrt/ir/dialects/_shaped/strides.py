"""Strides and offsets of memref views, as `memref.subview` and similar ops compute them.

In lists of sizes, offsets and strides, `None` stands for a number known only at run time.
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
    """Return True if the layout is known to be row-major without gaps, with offset 0."""
    return type.layout is None or type.layout == MemRefType(type.shape, type.element).strides


def has_identity_layout(type: MemRefType) -> bool:
    """Return True if the layout is the default one: it is absent or `strided<[1]>`."""
    return type.layout is None or type.layout == StridedLayout((1,), 0)


def strides_of(type: MemRefType, symbols: Sequence[int] = ()) -> StridedLayout | None:
    """Return the strides and offset of a memref; None for an unranked memref, and for a layout map without strides.

    `symbols` are the values of the map's symbols, if they are known.

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
    """Return {dimension: coefficient, -1: constant term} for an expression; None if it is not linear."""
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
    """Return True if the last dimension is known to have stride 1.

    >>> from qrt.types import parse_type
    >>> [is_minor_unit(parse_type(f"memref<4x4xf32, affine_map<(i, j) -> ({map})>>")) for map in ("i * 8 + j", "j, i")]
    [True, False]
    """
    layout = strides_of(type)
    return layout is not None and (not layout.strides or layout.strides[-1] == 1)


def subview(
    source: MemRefType, offsets: Sequence[Number], sizes: Sequence[Number], steps: Sequence[Number]
) -> MemRefType | None:
    """Return the type of the view `source[offsets] [sizes] [steps]`; None if the source's layout is not strided.

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
    """Return the type of `source` expanded to `shape`; None if the layout of `source` is not strided.

    Dimension i of `source` becomes the dimensions `groups[i]` of `shape`.
    """
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
    """Return the type of `source` collapsed to `shape`; None if that is known to be impossible.

    The dimensions `groups[i]` of `source` become dimension i of `shape`. Each group must be contiguous, `source` must
    be ranked, and its layout strided.
    """
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
            stated = layout.strides[outer]
            if source.shape[outer] != 1 and None not in (wanted, stated) and wanted != stated:
                return None
    return MemRefType(shape, source.element, StridedLayout(tuple(strides), layout.offset), source.space)


def _innermost_stride(shape: Sequence[Number], strides: Sequence[Number], group: Sequence[int]) -> Number:
    """Return the stride of a collapsed group of dimensions: the stride of its last dimension whose size is not 1.

    The stride of a dimension of size 1 is arbitrary. If the selected dimension has a dynamic size, which may be 1 at
    run time, the stride is unknown (None), unless the dimension is the first of the group.
    """
    index = next((index for index in reversed(group) if shape[index] != 1), group[0])
    return None if shape[index] is None and index != group[0] else strides[index]
