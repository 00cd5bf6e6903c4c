"""Recognition of sums, means and pools. In `linalg`, an average is a sum followed by a division."""

from math import prod

from qrt.ir import Operation, Value
from qrt.quantization.forms.elements import behind, elements_of, shape_of
from qrt.quantization.forms.model import KernelMatch
from qrt.quantization.forms.movement import padding_of
from qrt.quantization.forms.products import linear
from qrt.quantization.forms.reductions import (
    EXPANSIONS,
    QUOTIENTS,
    AxisReduction,
    ReductionKind,
    axis_reduction_of,
    is_least,
    quotient_of,
    reduction_of,
    restores,
)


def mean(value: Value) -> list[KernelMatch]:
    """Return the match if float operations compute a value as a `mean` along axes; otherwise an empty list."""
    source = value.operation
    passed: list[Operation] = []
    if source is not None and source.name in EXPANSIONS:
        reduction = _mean(behind(source.operands[0], passed))
        if reduction is None or not restores(reduction, value):
            return []
        reduction = AxisReduction(
            reduction.source, reduction.axes, True, (*reduction.operations, *reversed(passed), source)
        )
    else:
        reduction = _mean(value)
    if reduction is None:
        return []
    attributes = {"axes": reduction.axes, "keepdims": reduction.keepdims}
    return [KernelMatch("mean", ((reduction.source, None),), reduction.operations, attributes=attributes)]


def _mean(value: Value) -> AxisReduction | None:
    elements = elements_of(value)
    if elements is None or elements.computed[0] not in QUOTIENTS:
        return None
    for given in elements.simplified().inputs:
        passed: list[Operation] = []
        sums = axis_reduction_of(behind(given, passed), kind="sum")
        if sums is None:
            continue
        sizes = [shape_of(sums.source)[axis] for axis in sums.axes]
        quotient = quotient_of(value, prod(size or 0 for size in sizes))
        if quotient is not None:
            operations = (*sums.operations, *reversed(passed), quotient[1])
            return AxisReduction(sums.source, sums.axes, sums.keepdims, operations)
    return None


_REDUCTIONS: dict[ReductionKind, str] = {"sum": "sum", "max": "reduce_max", "min": "reduce_min"}


def axis_reduction(value: Value) -> list[KernelMatch]:
    """Return the match if a value is computed as a sum, maximum or minimum along axes; otherwise an empty list."""
    for kind, family in _REDUCTIONS.items():
        reduction = axis_reduction_of(value, kind)
        if reduction is not None:
            attributes = {"axes": reduction.axes, "keepdims": reduction.keepdims}
            return [KernelMatch(family, ((reduction.source, None),), reduction.operations, attributes=attributes)]
    return []


# -- over windows ----------------------------------------------------------------------------------------------------


def average_pool(value: Value) -> list[KernelMatch]:
    """Return the match if float operations compute a value as an `avg_pool2d`; otherwise an empty list."""
    elements = elements_of(value)
    if elements is None or elements.computed[0] not in QUOTIENTS:
        return []
    for given in elements.simplified().inputs:
        passed: list[Operation] = []
        pool = pool_of(behind(given, passed), kind="sum")
        quotient = None if pool is None else quotient_of(value, prod(pool.attributes["kernel"]))
        if pool is not None and quotient is not None:
            operations = (*pool.operations, *reversed(passed), quotient[1])
            return [KernelMatch("avg_pool2d", pool.operands, operations, attributes=pool.attributes)]
    return []


def max_pool(value: Value) -> list[KernelMatch]:
    """Return the matches if float operations compute a value as a `max_pool2d`; otherwise an empty list.

    If the images are padded by the least float, a second match includes the padding.
    """
    pool = pool_of(value, kind="max")
    if pool is None:
        return []
    ((images, _),) = pool.operands
    padding = padding_of(images)
    if padding is None or not is_least(padding.value, value):
        return [pool]
    pairs = list(zip(padding.low, padding.high, strict=True))
    fits = all(max(pair) < taps for pair, taps in zip(pairs[1:3], pool.attributes["kernel"], strict=True))
    if not fits or pairs[0] != (0, 0) or pairs[3] != (0, 0):
        return [pool]
    attributes = {**pool.attributes, "padding": tuple(pairs[1:3])}
    operations = (*padding.operations, *pool.operations)
    return [pool, KernelMatch("max_pool2d", ((padding.source, None),), operations, attributes=attributes)]


def pool_of(value: Value, kind: ReductionKind) -> KernelMatch | None:
    """Return the match if a value is the sum or the maximum over windows of NHWC images; otherwise None.

    The second operand of such a `linalg` op determines the shape of the windows; its elements are not read.
    """
    reduction = reduction_of(value)
    if reduction is None or reduction.kind != kind or reduction.operation.input_count != 2:
        return None
    maps = [tuple(map(linear, map_.results)) for map_ in reduction.operation.indexing_maps]
    images, window, out = maps
    if len(images) != 4 or len(window) != 2 or len(out) != 4 or any(index is None for map_ in maps for index in map_):
        return None
    kernel, strides = shape_of(reduction.operation.operands[1]), []
    for axis in (1, 2):
        own, tap, at = images[axis] or {}, window[axis - 1] or {}, out[axis] or {}
        ((loop, factor),) = tap.items() if len(tap) == 1 else ((-1, 0),)
        strides.append(own.get(next(iter(at)), 0))
        if list(at.values()) != [1] or factor != 1 or own != {next(iter(at)): strides[-1], loop: 1}:
            return None
    if images[0] != out[0] or images[3] != out[3] or any(list((out[a] or {}).values()) != [1] for a in (0, 3)):
        return None
    if None in kernel or min(strides) < 1 or min(size or 0 for size in kernel) < 1:
        return None
    attributes = {"kernel": kernel, "strides": tuple(strides)}
    return KernelMatch(
        "avg_pool2d" if kind == "sum" else "max_pool2d",
        ((reduction.source, None),),
        (reduction.operation,),
        attributes=attributes,
    )
