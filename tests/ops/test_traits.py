"""What families declare about themselves is what their references compute, and what they compute is declared.

Hazards: a new op that passes do not know, so that it runs unfused and nothing says so; a trait that is not true of some
types or attributes; a trait that is deleted, and no test notices."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from qrt.errors import QuantError
from qrt.ops import FAMILIES, OpFamily, elementwise
from qrt.ops.core import element_dtype
from qrt.ops.declare import NO_TRAITS, Traits
from qrt.ops.traits import is_by_place
from qrt.quantization.targets.declared import WITHOUT_REGIONS
from qrt.types import FloatType, IntegerType, TensorType, Type, UniformType
from tests.ir.passes.lower_qrt.draw_ops import DRAWS
from tests.ir.passes.lower_qrt.draw_types import OpDraw
from tests.ops.harness import Array, tensor
from tests.ops.strategies import storage_of

I64 = IntegerType(64)
WIDE, BIAS = UniformType("i8", "f32", 0.4, 5), UniformType("i32", "f32", 0.05 * 0.07)
X, Y = UniformType("i8", "f32", 0.05, 3), UniformType("i8", "f32", 0.07, -4)
HALF, UNIT = UniformType("i16", "f32", 2.0**-12), UniformType("i16", "f32", 2.0**-15)
FLOATS, F64 = FloatType("f32"), FloatType("f64")
CALLS, MOST = 6, 200
"""Calls of each family, and the most that are drawn to have them."""


@dataclass
class Call:
    """A family on arrays, all types per layer; no size is 0."""

    arrays: list[Array]
    types: tuple[TensorType, ...]
    out: Type | TensorType | None = None
    attributes: dict[str, Any] = field(default_factory=dict)

    def result(self, family: OpFamily, out: Type | TensorType | None = None) -> tuple[Array, TensorType]:
        """The result and its type; the family may declare other traits than it does."""
        out = out or self.out
        declared = out if out is None or isinstance(out, TensorType) else TensorType(None, out)
        attributes = family.complete(self.attributes)
        t = family.resolve(self.types, attributes, declared)
        computed = np.asarray(family.reference(self.arrays, self.types, t, attributes))
        return computed.astype(element_dtype(t.element)), t


def of(
    elements: Sequence[Type], shapes: Sequence[tuple[int, ...]], out: Any = None, **attributes: Any
) -> Callable[[np.random.Generator], Call]:
    """Return what draws a call on operands of these types and shapes."""

    def draw(rng: np.random.Generator) -> Call:
        arrays = [
            storage_of(t, shape, rng)
            if isinstance(t, UniformType)
            else (rng.standard_normal(shape) * 4).astype(np.float32)
            if t is FLOATS
            else rng.integers(0, 2, shape).astype(element_dtype(t))
            for t, shape in zip(elements, shapes, strict=True)
        ]
        return Call(arrays, tuple(map(tensor, shapes, elements)), out, attributes)

    return draw


IMAGE = (1, 4, 4, 3)
OTHERS: dict[str, Callable[[np.random.Generator], Call]] = {
    "add": of([X, Y], [(3, 4), (4,)], Y),
    "sub": of([X, X], [(3, 1), (3, 4)], Y),
    "mul": of([X, Y], [(3, 4), (3, 4)], Y),
    "requantize": of([X], [(3, 4)], Y),
    "conv2d": of([X, Y, BIAS], [IMAGE, (2, 2, 2, 3), (2,)], WIDE),
    "depthwise_conv2d": of([X, Y], [IMAGE, (2, 2, 3)], WIDE),
    "matmul": of([X, Y, BIAS], [(3, 5), (5, 2), (2,)], WIDE),
    "mean": of([X], [(3, 4, 2)], Y, axes=(0, 2)),
    "sum": of([X], [(3, 4, 2)], WIDE, axes=(1,), keepdims=True),
    "avg_pool2d": of([X], [IMAGE], Y),
    "concat": of([X, X], [(3, 4), (3, 2)], axis=-1),
    "maximum": of([X, X], [(3, 4), (4,)]),
    "minimum": of([X, X], [(3, 4), (3, 1)]),
    "div": of([X, Y], [(3, 4), (4,)], Y),
    "squared_difference": of([X, Y], [(3, 4), (4,)], Y),
    "leaky_relu": of([X], [(3, 5)], Y, alpha=0.3),
    "prelu": of([X, Y], [(3, 5), (5,)], Y),
    "logistic": of([HALF], [(3, 5)], UNIT),
    "tanh": of([HALF], [(3, 5)], UNIT),
    "lookup_interpolated": of([HALF, UNIT], [(3, 5), (513,)]),
    "qcast": of([FLOATS], [(3, 5)], X),
    "dcast": of([X], [(3, 5)]),
    "scast": of([X], [(3, 5)], IntegerType(8)),
    "log_softmax": of([X], [(3, 5)], UniformType("i8", "f32", 16 / 256, 127)),
    "gather": of([X, I64], [(4, 5), (3,)], axis=1),
    "gather_nd": of([X, I64], [(4, 5), (3, 1)]),
    "scatter_nd": of([I64, I64, I64], [(4, 5), (1, 1), (1, 5)], reduction="add"),
    "transpose_conv2d": of([X, Y], [IMAGE, (2, 2, 2, 3)], WIDE),
    "argmax": of([X], [(4, 5)], axis=1),
    "argmin": of([X], [(4, 5)], axis=0),
    "cumsum": of([I64], [(4, 5)]),
}
"""Calls of families whose draws seldom have types per layer, or that are not drawn elsewhere."""
WITHOUT_CALLS = {
    **dict.fromkeys(
        ("top_k", "lstm", "svdf", "dynamic_lstm", "detection_postprocess", "non_max_suppression"),
        "it has several results",
    ),
    **dict.fromkeys(("float_matmul", "dynamic_matmul"), "its operands are floats, which are summed"),
}


def calls_of(name: str) -> list[Call]:
    """Calls of a family, the same ones each time."""
    if name in OTHERS:
        return [OTHERS[name](np.random.default_rng(seed)) for seed in range(CALLS)]
    calls: list[Call] = []
    for seed in range(MOST):
        drawn = DRAWS[name](OpDraw(f"{name} {seed}", (8,)), name)
        elements = [*drawn.elements, getattr(drawn.out, "element", drawn.out)]
        is_plain = all(t.is_per_layer for t in elements if isinstance(t, UniformType))
        call = Call(drawn.arrays, tuple(drawn.types), drawn.out, drawn.attributes)
        if not is_plain or any(a.size < 2 for a in drawn.arrays) or is_by_place(drawn.attributes):
            continue
        if call.result(FAMILIES[name])[0].size:
            calls.append(call)
    assert len(calls) >= CALLS, f"{name}: too few calls are drawn"
    return calls[: 3 * CALLS]


# -- what is computed ------------------------------------------------------------------------------------------------


def is_elementwise(family: OpFamily, calls: Sequence[Call]) -> bool:
    """Whether elements may change their places before the op as well as behind it: all operands, but for tables,
    broadcast to one line."""
    return all(_is_elementwise(family, call) for call in calls)


def _is_elementwise(family: OpFamily, call: Call) -> bool:
    result, t = call.result(family)
    own = [i for i in range(len(call.arrays)) if i not in family.traits.tables]
    shapes = [call.arrays[i].shape for i in own]
    try:
        if np.broadcast_shapes(*shapes) != result.shape:
            return False
        places = np.random.default_rng(0).permutation(result.size)
        arrays, types = list(call.arrays), list(call.types)
        for i in own:
            arrays[i] = np.broadcast_to(arrays[i], result.shape).ravel()[places]
            types[i] = types[i].with_(shape=(result.size,))
        line = Call(arrays, tuple(types), t.element, call.attributes)
        return np.array_equal(line.result(family)[0], result.ravel()[places])
    except (QuantError, ValueError):  # a size of another rank, attributes with an entry for each axis
        return False


def moved(family: OpFamily, call: Call) -> tuple[Array, list[Array]] | None:
    """The numbers of the elements of which the result consists, of all operands one after the other, and the operands'
    numbers; None where the result has others, or depends on them."""
    indices = [i for i, t in enumerate(call.types) if not isinstance(t.element, UniformType)]
    sizes = [array.size for array in call.arrays]
    rng = np.random.default_rng(1)
    values = rng.integers(0, 50, sum(sizes))
    lines = (values, np.arange(1, sum(sizes) + 1))
    attributes = call.attributes | ({"value": None} if "value" in call.attributes else {})
    out = None if call.out is None else TensorType(getattr(call.out, "shape", None), I64)
    results = []
    for line in lines:
        parts = np.split(line, np.cumsum(sizes)[:-1])
        arrays = [
            array if i in indices else part.reshape(array.shape)
            for i, (array, part) in enumerate(zip(call.arrays, parts, strict=True))
        ]
        types = tuple(t if i in indices else t.with_(element=I64) for i, t in enumerate(call.types))
        try:
            results.append(Call(arrays, types, out, attributes).result(family)[0])
        except QuantError:
            return None
    numbers = results[1]
    if not (numbers.min() >= 0 and numbers.max() <= len(values)):
        return None
    taken = np.append(0, values)[numbers]
    parts = np.split(lines[1], np.cumsum(sizes)[:-1])
    return (numbers, parts) if np.array_equal(taken, results[0]) else None


def is_movement(family: OpFamily, calls: Sequence[Call]) -> bool:
    return all(moved(family, call) is not None for call in calls)


def orders(family: OpFamily, calls: Sequence[Call]) -> list[tuple[int, ...]] | None:
    """The permutation of axes that each call makes; None where one makes none, or none changes anything."""
    made = []
    for call in calls:
        found = moved(family, call) if len(call.arrays) == 1 else None
        if found is None:
            return None
        numbers, (line,) = found
        source = line.reshape(call.arrays[0].shape)
        every = permutations(range(source.ndim))
        order = next((order for order in every if np.array_equal(source.transpose(order), numbers)), None)
        if order is None:
            return None
        made.append(order)
    return made if any(order != tuple(range(len(order))) for order in made) else None


def is_clamp(family: OpFamily, calls: Sequence[Call]) -> bool:
    """Whether the result of each call is the operand between two bounds, which are in some call no type's."""
    bounded = False
    for call in calls:
        (result, t), x = call.result(family), call.arrays[0]
        if len(call.arrays) > 1 or t != call.types[0] or not isinstance(t.element, UniformType):
            return False
        ends = storage_ends(t.element)
        try:
            low, high = replaced(call, ends).result(family)[0]
        except (QuantError, ValueError):  # attributes with an entry for each axis
            return False
        if not np.array_equal(result, np.clip(x, low, high)):
            return False
        bounded |= (int(low), int(high)) != tuple(map(int, ends))
    return bounded


def storage_ends(t: UniformType) -> Array:
    return np.array([t.storage_min, t.storage_max], element_dtype(t))


def replaced(call: Call, x: Array) -> Call:
    return replace(call, arrays=[x], types=(call.types[0].with_(shape=x.shape),))


def keeps_type(family: OpFamily, calls: Sequence[Call]) -> bool:
    """Whether the result has the first operand's type, and may have no other."""
    for call in calls:
        element = call.types[0].element
        other = X.with_(scales=0.25) if isinstance(element, UniformType) else IntegerType(32)
        try:
            if call.result(family)[1].element != element:
                return False
            if call.result(family, TensorType(getattr(call.out, "shape", None), other))[1].element != element:
                return False
        except QuantError:
            continue
    return True


# -- what is declared ------------------------------------------------------------------------------------------------


def faults(family: OpFamily) -> list[str]:
    """The traits of a family that are not what it computes."""
    traits, calls = family.traits, calls_of(family.name)
    computed = {
        "is_elementwise": is_elementwise(family, calls),
        "is_movement": is_movement(family, calls),
        "permutation": orders(family, calls) is not None,
        "bounds": is_clamp(family, calls),
        "keeps_type": keeps_type(family, calls),
    }
    declared = {name: bool(getattr(traits, name, None)) for name in computed}
    declared["keeps_type"] = family.declaration.result.keeps_type
    wrong = [name for name in computed if computed[name] != declared[name]]
    checks = {
        "tables": _tables, "permutation": _permutation, "bounds": _bounds, "kept_type": _kept_type, "permute": _permute,
        "ends_in_clamp": _ends_in_clamp, "is_exact": _is_exact, "float_op": _float_op, "weights": _weights,
        "of_floats": _of_floats, "constraint": _constraint, "operand_bits": _operand_bits,
    }  # fmt: skip
    return wrong + [name for name, is_true in checks.items() if not all(is_true(family, call) for call in calls)]


def _tables(family: OpFamily, call: Call) -> bool:
    """A table has one axis, and another length than what it is read for."""
    return all(call.arrays[i].ndim == 1 and family.traits.is_elementwise for i in family.traits.tables)


def _permutation(family: OpFamily, call: Call) -> bool:
    if family.traits.permutation is None:
        return True
    order = family.traits.permutation(call.types, family.complete(call.attributes))
    return np.array_equal(call.result(family)[0], call.arrays[0].transpose(order))


def _bounds(family: OpFamily, call: Call) -> bool:
    if family.traits.bounds is None:
        return True
    t = call.types[0].element
    assert isinstance(t, UniformType)
    (low,), (high,) = family.traits.bounds(t, family.complete(call.attributes))
    return np.array_equal(call.result(family)[0], np.clip(call.arrays[0], low, high))


def _kept_type(family: OpFamily, call: Call) -> bool:
    attributes, t = family.complete(call.attributes), call.result(family)[1]
    kept = family.kept_type(call.types, attributes, t)
    return kept == (t.element if family.declaration.result.keeps_type else None)


def _permute(family: OpFamily, call: Call) -> bool:
    """Operands that are transposed before, or the result behind, with the attributes that the trait says."""
    permute = family.traits.permute
    if permute is None:
        return True
    rank = call.arrays[0].ndim
    for order in permutations(range(rank)):
        inner = np.argsort(order)
        arrays = [array.transpose(inner) for array in call.arrays]
        types = tuple(tensor(a.shape, t.element) for a, t in zip(arrays, call.types, strict=True))
        out = getattr(call.out, "element", call.out)
        changed, after = permute(family.complete(call.attributes), order)
        before = Call(arrays, types, out, call.attributes | changed).result(family)[0]
        if not np.array_equal(call.result(family)[0], before.transpose(after)):
            return False
    return True


def _ends_in_clamp(family: OpFamily, call: Call) -> bool:
    """A result type with other bounds clamps once more."""
    if not family.traits.ends_in_clamp or str(call.attributes.get("requant", "")) == "integer":
        return True  # a rule that keeps the type has no result of another one
    result, t = call.result(family)
    assert isinstance(t.element, UniformType)
    low = min(int(np.quantile(result.astype(np.int64), 0.25)), t.element.storage_max - 1)
    high = max(int(np.quantile(result.astype(np.int64), 0.75)), low + 1)
    narrow = t.element.with_(storage_min=low, storage_max=high)
    return np.array_equal(call.result(family, narrow)[0], np.clip(result, low, high))


def _is_exact(family: OpFamily, call: Call) -> bool:
    """Nothing is rounded or clamped: a type of twice the resolution has twice the integers."""
    if not family.traits.is_exact or "float32_fused" in call.attributes.values():
        return True
    try:
        result, t = replace(call, out=None, attributes=call.attributes | {"requant": "fixed"}).result(family)
    except QuantError:  # there is no such type
        return True
    assert isinstance(t.element, UniformType)
    fine = UniformType("i32", t.element.expressed_type, t.element.scale / 2)
    double = replace(call, attributes=call.attributes | {"requant": "fixed"}).result(family, fine)[0]
    clipped = np.clip(2 * (result.astype(np.int64) - t.element.zero_point), fine.storage_min, fine.storage_max)
    return np.array_equal(double, clipped)


def _constraint(family: OpFamily, call: Call) -> bool:
    """A family without a constraint has a reason, and one that keeps its operand's type requires it at every port."""
    constraint = family.traits.constraint
    if constraint is None or family.name in WITHOUT_REGIONS:
        return (constraint is None) == (family.name in WITHOUT_REGIONS)
    return (constraint == "same_scale") == family.declaration.result.keeps_type


def _operand_bits(family: OpFamily, call: Call) -> bool:
    """Operands of 16 bits are refused by exactly the families whose operands have at most 8."""
    first = call.types[0].element
    if family.traits.constraint is None or not isinstance(first, UniformType):
        return family.traits.operand_bits == NO_TRAITS.operand_bits
    wide = UniformType("i16", first.expressed_type, first.scale, first.zero_point)
    types = tuple(t.with_(element=wide) if t.element is first else t for t in call.types)
    out = None if family.declaration.result.keeps_type and not isinstance(call.out, TensorType) else call.out
    if isinstance(out, TensorType) and out.element is first:
        out = out.with_(element=wide)
    try:
        family.resolve(
            types,
            family.complete(call.attributes),
            out if isinstance(out, TensorType) or out is None else TensorType(None, out),
        )
    except QuantError:
        return family.traits.operand_bits == 8
    return family.traits.operand_bits > 8


def _float_op(family: OpFamily, call: Call) -> bool:
    if not family.traits.float_op:
        return True
    call = replace(call, attributes=call.attributes | dict(family.traits.float_attributes))
    result, t = call.result(family)
    assert isinstance(t.element, UniformType)
    values = [
        (a.astype(np.float64) - u.zero_point) * u.scale
        for a, u in zip(call.arrays, (x.element for x in call.types), strict=True)
        if isinstance(u, UniformType)
    ]
    function = elementwise.bind(family.traits.float_op, [F64] * len(values), [F64])
    exact = function(*values) / t.element.scale + t.element.zero_point
    return bool(np.abs(np.clip(exact, t.element.storage_min, t.element.storage_max) - result).max() <= 2)


def _weights(family: OpFamily, call: Call) -> bool:
    """Of the first operand the distance from its zero point counts; channels have their axes."""
    weights = family.traits.weights
    if weights is None:
        return True
    result, _ = call.result(family)
    (x, w, *bias), (t, *others) = call.arrays, call.types
    assert isinstance(t.element, UniformType)
    shifted = t.element.with_(storage="i16", zero_points=t.element.zero_point + 9, storage_min=None, storage_max=None)
    far = replace(call, arrays=[x.astype(np.int16) + 9, w, *bias], types=(t.with_(element=shifted), *others))
    if not np.array_equal(far.result(family)[0], result):
        return False
    outputs = np.arange(w.shape[weights.outputs])[::-1] if w.ndim > 1 else None
    if outputs is None or weights.inputs == weights.outputs or call.attributes.get("groups", 1) != 1:
        return True  # channels of groups go together
    turned = replace(call, arrays=[x, w.take(outputs, weights.outputs), *(b[::-1] for b in bias)])
    if not np.array_equal(turned.result(family)[0], result[..., ::-1]):
        return False
    inputs = np.arange(x.shape[-1])[::-1]
    mixed = replace(call, arrays=[x[..., inputs], w.take(inputs, weights.inputs), *bias])
    return np.array_equal(mixed.result(family)[0], result)


def _of_floats(family: OpFamily, call: Call) -> bool:
    other = FAMILIES.get(family.traits.of_floats)
    return not family.traits.of_floats or (other is not None and other.declaration.operands[1:] != ())


OBSERVED = [name for name in FAMILIES if name not in WITHOUT_CALLS]


@pytest.mark.parametrize("name", OBSERVED)
def test_the_traits_of_a_family_are_what_it_computes(name: str) -> None:
    assert faults(FAMILIES[name]) == []


def test_a_family_that_is_not_called_here_has_no_traits() -> None:
    assert {name for name in WITHOUT_CALLS if FAMILIES[name].traits != NO_TRAITS} == set()
    assert set(OTHERS) <= set(FAMILIES)


DELETED = [
    (name, trait.name)
    for name in ("clamp", "lookup", "transpose")
    for trait in fields(Traits)
    if getattr(FAMILIES[name].traits, trait.name) != getattr(NO_TRAITS, trait.name)
]


@pytest.mark.parametrize(("name", "trait"), DELETED)
def test_a_trait_that_is_deleted_is_missed(name: str, trait: str) -> None:
    family = FAMILIES[name]
    assert faults(replace(family, traits=replace(family.traits, **{trait: getattr(NO_TRAITS, trait)})))


@pytest.mark.parametrize("name", ["clamp", "transpose"])
def test_a_kept_type_that_is_not_declared_is_missed(name: str) -> None:
    declared = FAMILIES[name].declaration
    other = replace(declared, result=replace(declared.result, keeps_type=False))
    assert "keeps_type" in faults(replace(FAMILIES[name], declaration=other))


@pytest.mark.parametrize("name", ["add", "concat", "conv2d", "max_pool2d", "mean", "softmax"])
@pytest.mark.parametrize("trait", ["is_elementwise", "is_movement"])
def test_a_trait_that_is_not_true_is_found(name: str, trait: str) -> None:
    family = FAMILIES[name]
    wrong = replace(family.traits, **{trait: not getattr(family.traits, trait)})
    assert trait in faults(replace(family, traits=wrong))
