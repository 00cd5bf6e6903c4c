"""Convolutions and pools as sets of loops with roles (window, image, group, ...), independent of the order of axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from qrt.ir import Operation, Value
from qrt.quantization.forms.elements import shape_of
from qrt.quantization.forms.pools import pool_of
from qrt.quantization.forms.products import Linear, convolution, grouped_convolution, linear, sum_of_products
from qrt.quantization.forms.reductions import ReductionKind, reduction_of

Role = Literal["image", "group", "filter", "depth", "channel"]
Places = tuple[int, ...]
"""The axis of a tensor along which a loop runs; empty if there is none."""


@dataclass(frozen=True)
class Window:
    """One dimension of a sliding window.

    The dimension runs along the axis ``image`` of the images, the axis ``tap`` of the filters or of a pool's window,
    and the axis ``out`` of the result. The index in the images is ``stride * out_index + dilation * tap_index``.
    """

    image: int
    tap: int
    out: int
    stride: int
    dilation: int


@dataclass(frozen=True)
class WindowLoops:
    """The loops of a convolution or pool: the dimensions of the window, and the other loops by role.

    The dimensions of ``windows`` are in the order of the result's axes. Each other loop has a role, such as group or
    channel. ``image``, ``filters`` and ``out`` map roles to the axes of the images, filters and result along which the
    loops run.
    """

    windows: tuple[Window, ...]
    image: dict[Role, Places]
    filters: dict[Role, Places]
    out: dict[Role, Places]


@dataclass(frozen=True)
class Convolution:
    """A convolution: an operation that sums products of images and filters over sliding windows, and its loops."""

    operation: Operation
    loops: WindowLoops

    @property
    def group_count(self) -> int | None:
        """The number of groups, which is 1 for a convolution without groups; None if it is dynamic."""
        places = self.loops.image["group"]
        return shape_of(self.operation.operands[0])[places[0]] if places else 1


@dataclass(frozen=True)
class Pool:
    """A pool: an operation that reduces images over sliding windows, and its loops."""

    operation: Operation
    kind: ReductionKind
    loops: WindowLoops


def convolution_of(value: Value) -> Convolution | None:
    """Return the convolution that computes a value; None if there is none, or if kernels accept it unchanged."""
    sums = sum_of_products(value)
    if sums is None or convolution(sums) or grouped_convolution(sums):
        return None
    filters, out = sums.loops(1), sums.loops(2)
    if filters is None or out is None:
        return None
    windows = _windows(sums.indices[0], filters, out)
    if windows is None:
        return None
    taps = {filters[window.tap] for window in windows}
    plain = {next(iter(index)): axis for axis, index in enumerate(sums.indices[0]) if list(index.values()) == [1]}
    roles: dict[int, Role] = {}
    for loop in {*plain, *filters, *out} - taps - {out[window.out] for window in windows}:
        role = _ROLES.get((loop in plain, loop in filters, loop in out))
        if role is None:
            return None
        roles[loop] = role
    if len(plain) + len(windows) != len(sums.indices[0]) or len(set(roles.values())) < len(roles):
        return None
    image, by_filter, by_out = (
        {role: tuple(places[loop] for loop, own in roles.items() if own == role and loop in places) for role in ROLES}
        for places in (plain, _places(filters), _places(out))
    )
    return Convolution(sums.operation, WindowLoops(windows, image, by_filter, by_out))


ROLES: tuple[Role, ...] = ("image", "group", "filter", "depth", "channel")
_ROLES: dict[tuple[bool, bool, bool], Role] = {
    (True, False, True): "image",
    (True, True, True): "group",
    (False, True, True): "filter",
    (True, True, False): "depth",
}
"""The role of a loop, given if it runs along an axis of the images, of the filters, and of the result."""


def _places(loops: Sequence[int]) -> dict[int, int]:
    return {loop: axis for axis, loop in enumerate(loops)}


def _windows(images: Sequence[Linear], taps: Sequence[int], out: Sequence[int]) -> tuple[Window, ...] | None:
    """Return the dimensions of a sliding window, in the order of the result's axes, from index expressions.

    ``images`` has the index expression of each image axis, as a coefficient for each loop. ``taps`` and ``out`` list
    the loops that run along the axes of the filters and of the result. Each expression must be ``stride * out +
    dilation * tap`` or a single loop, and there must be 1 to 3 dimensions. Otherwise the result is None.
    """
    windows = []
    for axis, index in enumerate(images):
        outer, inner = [loop for loop in index if loop in out], [loop for loop in index if loop in taps]
        if list(index.values()) == [1]:
            continue
        if len(index) != 2 or len(outer) != 1 or len(inner) != 1 or outer == inner or min(index.values()) < 1:
            return None
        windows.append(Window(axis, taps.index(inner[0]), out.index(outer[0]), index[outer[0]], index[inner[0]]))
    return tuple(sorted(windows, key=lambda window: window.out)) if 1 <= len(windows) <= 3 else None


def window_reduction_of(value: Value) -> Pool | None:
    """Return the pool that computes a value; None if there is none, or if kernels accept it unchanged."""
    reduction = reduction_of(value)
    if reduction is None or reduction.operation.input_count != 2 or reduction.kind == "min":
        return None
    if pool_of(value, reduction.kind) is not None:
        return None
    maps = [[linear(result) for result in map.results] for map in reduction.operation.indexing_maps]
    images, taps, out = ([index for index in own if index] for own in maps)
    if [len(images), len(taps), len(out)] != [len(own) for own in maps]:
        return None
    if any(list(index.values()) != [1] for index in (*taps, *out)):
        return None
    tap_loops, out_loops = [next(iter(index)) for index in taps], [next(iter(index)) for index in out]
    windows = _windows(images, tap_loops, out_loops)
    plain = {next(iter(index)): axis for axis, index in enumerate(images) if list(index.values()) == [1]}
    if windows is None or any(window.dilation != 1 for window in windows) or len(tap_loops) != len(windows):
        return None
    others = [loop for loop in out_loops if loop in plain]
    if len(others) > 2 or len(others) + len(windows) != len(out) or len(plain) != len(others):
        return None
    if None in shape_of(reduction.operation.operands[1]):
        return None
    roles: tuple[Role, Role] = ("image", "channel")
    image: dict[Role, Places] = dict.fromkeys(ROLES, ())
    by_out: dict[Role, Places] = dict.fromkeys(ROLES, ())
    for role, loop in zip(roles if len(others) == 2 else roles[1:], others, strict=False):
        image[role], by_out[role] = (plain[loop],), (out_loops.index(loop),)
    return Pool(reduction.operation, reduction.kind, WindowLoops(windows, image, {}, by_out))
