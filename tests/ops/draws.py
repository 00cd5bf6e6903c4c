"""Draws whole ops: operands, types, result and attributes."""

from dataclasses import dataclass
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from qrt.ops.requant import max_magnitude
from qrt.types import TensorType, UniformType
from tests.ops.harness import Array, tensor
from tests.ops.strategies import (
    fitted,
    generators,
    maybe_per_axis,
    rules,
    spread_of_product,
    storage_of,
    uniform_types,
)


@dataclass
class Drawn:
    """An op on arrays. `constants` are the sets of operands that may be constant."""

    name: str
    arrays: list[Array]
    types: list[TensorType]
    out: UniformType
    attributes: dict[str, Any]

    @property
    def constants(self) -> list[tuple[int, ...]]:
        return [(), (1,), (1, 2)][: len(self.arrays)]

    def elements(self) -> list[UniformType]:
        """The quantized types of the operands."""
        return [t.element for t in self.types if isinstance(t.element, UniformType)]


@st.composite
def matmuls(draw: st.DrawFn) -> Drawn:
    """Matrices of any widths, bounds, zero points, axes and rules, with and without a bias; scales may be such that no
    rule holds their quotient."""
    rng = draw(generators())
    m, k, n = (draw(st.integers(0, 5)) for _ in range(3))
    ta, tw, to = draw(maybe_per_axis(m, 0)), draw(maybe_per_axis(n, 1)), draw(maybe_per_axis(n, 1))
    bound = k * max_magnitude(ta) * max_magnitude(tw)
    assume(bound < 2**62)
    rule = draw(rules())
    arrays = [storage_of(ta, (m, k), rng), storage_of(tw, (k, n), rng)]
    if draw(st.booleans()):
        to = fitted(to, spread_of_product((arrays[0], ta), (arrays[1], tw), depth=k))
    types = [tensor((m, k), ta), tensor((k, n), tw)]
    if ta.is_per_layer and draw(st.booleans()):
        tb = draw(maybe_per_axis(n, 0, scales=st.just(ta.scale * 0.3)))
        arrays.append(storage_of(tb, (n,), rng))
        types.append(tensor((n,), tb))
    return Drawn("matmul", arrays, types, to, {"requant": rule})


@st.composite
def convolutions(draw: st.DrawFn, depthwise: bool) -> Drawn:
    """Windows with strides, dilations, paddings and groups; types of any widths, bounds and zero points."""
    rng = draw(generators())
    groups, per_group = draw(st.tuples(st.integers(1, 5 if depthwise else 3), st.integers(1, 3)))
    depth = 1 if depthwise else draw(st.integers(1, 3))
    kernel, strides, dilations = (draw(st.tuples(*[st.integers(1, 3)] * 2)) for _ in range(3))
    padding = draw(st.tuples(*[st.tuples(*[st.integers(0, 2)] * 2)] * 2))
    size = tuple(
        max((k - 1) * d + 1 - sum(p), 1) + draw(st.integers(0, 3))
        for k, d, p in zip(kernel, dilations, padding, strict=True)
    )
    outputs = groups * per_group
    tx = draw(uniform_types(scales=st.floats(1e-3, 1.0)))
    tw = draw(maybe_per_axis(outputs, 2 if depthwise else 0, scales=st.floats(1e-3, 1.0)))
    to = draw(maybe_per_axis(outputs, 3, scales=st.floats(1e-3, 1e3)))
    taps = kernel[0] * kernel[1] * depth
    bound = taps * max_magnitude(tx) * max_magnitude(tw)
    assume(bound < 2**62)
    x = storage_of(tx, (draw(st.integers(0, 2)), *size, groups * depth), rng)
    w = storage_of(tw, (*kernel, outputs) if depthwise else (outputs, *kernel, depth), rng)
    if draw(st.booleans()):
        to = fitted(to, spread_of_product((x, tx), (w, tw), depth=taps))
    attributes: dict[str, Any] = {"strides": strides, "padding": padding, "dilations": dilations}
    attributes |= {"requant": draw(rules())} | ({} if depthwise else {"groups": groups})
    arrays, types = [x, w], [tensor(x.shape, tx), tensor(w.shape, tw)]
    if draw(st.booleans()):
        tb = draw(maybe_per_axis(outputs, 0, scales=st.sampled_from([tx.scale * tw.scales[0], 0.3 * tx.scale])))
        arrays.append(storage_of(tb, (outputs,), rng))
        types.append(tensor((outputs,), tb))
    return Drawn("depthwise_conv2d" if depthwise else "conv2d", arrays, types, to, attributes)
