"""The targets against the op families: what a target offers, its kernels take. Hazard: a signature for which export
finds no op, or an error in the middle of it."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qrt.errors import QuantTypeError
from qrt.ops import FAMILIES
from qrt.quantization.targets.constraints import constraint_of
from qrt.quantization.targets.declared import WITHOUT_REGIONS
from qrt.quantization.targets.model import TargetPort
from qrt.quantization.targets.registry import TARGETS, find
from qrt.types import FloatType, TensorType, UniformType

F32 = FloatType("f32")
SHAPES = {
    "matmul": [(3, 64), (64, 2), (2,)],
    "float_matmul": [(3, 64), (64, 2), (2,)],
    "conv2d": [(1, 5, 5, 4), (2, 3, 3, 4), (2,)],
    "depthwise_conv2d": [(1, 5, 5, 2), (3, 3, 2), (2,)],
    "add": [(2, 4), (4,)],
    "sub": [(4,), (2, 4)],
    "mul": [(2, 4), (2, 1)],
    "concat": [(2, 4), (3, 4), (1, 4)],
    "avg_pool2d": [(1, 4, 4, 3)],
    "max_pool2d": [(1, 4, 4, 3)],
    "resize_nearest": [(1, 4, 4, 3)],
    "maximum": [(2, 4), (4,)],
    "minimum": [(2, 1), (2, 4)],
    "div": [(2, 4), (4,)],
}
GIVEN = {
    "pad": {"padding": ((1, 0), (0, 2))}, "div": {"requant": "float64_away"}, "tile": {"multiples": (2, 1)},
    "resize_nearest": {"size": (2, 2)},
}  # fmt: skip
QUANTIZED = {name for name, family in FAMILIES.items() if family.traits.constraint is not None}
"""The families that have a quantized form, as they declare."""
LEFT_OUT: dict[tuple[str, str], str] = {}
"""The families with a quantized form that a target lacks, with the reason."""
KERNELS = [
    (target, name)
    for target in TARGETS.own
    if target != "bf16"  # its kernels are float bodies between conversions
    for name in dict.fromkeys(kernel.name for kernel in find(target).kernels)
    if name in SHAPES or name in QUANTIZED
]
SCALES = st.integers(-140, 100).flatmap(lambda e: st.floats(1.0, 2.0).map(lambda m: math.ldexp(m, e)))


def drawn(draw, port: TargetPort, shape):
    """A type that fits a port, of any scale, zero point, bounds and granularity that it allows."""
    if port.is_float:
        return FloatType(port.storage)
    if port.given is not None:
        return port.given
    storage = draw(st.sampled_from(["i8", "u8", "i16", "i4", "i32"])) if port.is_wildcard else port.storage
    whole = UniformType(storage, "f32", 1.0)
    least = whole.storage_min if port.low is None else port.low
    greatest = whole.storage_max if port.high is None else port.high
    low = draw(st.integers(least, greatest - 1))
    high = draw(st.integers(low + 1, greatest))
    zeros = st.just((least + greatest + 1) // 2) if port.symmetric else st.integers(*whole.default_bounds)
    axis = port.axis_of(len(shape))
    if port.blocks is not None:
        size = [n // port.blocks[d] for d, n in enumerate(shape)]
        scales = [[draw(SCALES) for _ in range(size[1])] for _ in range(size[0])]
        points = [[draw(zeros) for _ in range(size[1])] for _ in range(size[0])]
        return UniformType(storage, "f32", scales, points, None, port.blocks, low, high)
    if axis is not None and draw(st.booleans()):
        count = shape[axis]
        pair = [draw(SCALES) for _ in range(count)], [draw(zeros) for _ in range(count)]
        return UniformType(storage, "f32", *pair, axis, None, low, high)
    return UniformType(storage, "f32", draw(SCALES), draw(zeros), storage_min=low, storage_max=high)


@pytest.mark.parametrize(("target", "name"), KERNELS)
@settings(max_examples=3, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
@given(st.data())
def test_each_completed_signature_is_one_that_the_family_takes(target, name, data):
    device = find(target)
    for kernel in device.signatures(name):
        shapes = SHAPES.get(name, [(2, 4)])
        least = sum(port.size != "?" for port in kernel.inputs)
        count = data.draw(st.integers(least, len(shapes))) if kernel.inputs[-1].size else least
        matched = kernel.ports(count, 1)
        assert matched is not None
        inputs = [drawn(data.draw, port, shape) for port, shape in zip(matched[0], shapes, strict=False)]
        if kernel.constraint == "multiplier_accumulator_scale" and len(inputs) == 3:
            inputs[2] = F32
        is_derived = kernel.constraint in ("same_scale", "fixed_scale")
        outputs = [F32 if is_derived else drawn(data.draw, matched[1][0], ())]
        try:
            constraint_of(kernel, coarser_bias=device.coarser_bias)(inputs, outputs)
        except QuantTypeError as error:
            if "a bias cannot have the scale" not in str(error):
                raise
            continue
        resolve(name, inputs, outputs[0], shapes)


def resolve(name, inputs, output, shapes):
    family = FAMILIES[name]
    types = tuple(TensorType(shape, t) for shape, t in zip(shapes, inputs, strict=False))
    if name == "lookup":
        types = (*types, TensorType((1 << inputs[0].storage_width,), output))
    attributes = family.complete(GIVEN.get(name, {}))
    result = TensorType((4, 2) if name == "reshape" else None, output)
    found = family.resolve(types, attributes, result)
    assert found.element is output


REFUSED = {
    "weights per axis where they are contracted": ("matmul", "w", {"axis": 0}),
    "rows of a convolution": ("conv2d", "w", {"axis": 1}),
    "channels of an image": ("conv2d", "x", {"axis": 3}),
    "16 bits as a table's index": ("lookup", "q", {"storage": "i16"}),
    "16 bits of a softmax": ("softmax", "q", {"storage": "i16"}),
    "channels of a softmax": ("softmax", "q", {"axis": 1}),
    "blocks of a sum": ("add", "a", {"blocks": {0: 2, 1: 2}}),
    "blocks of a convolution": ("conv2d", "w", {"blocks": {0: 1, 1: 3, 2: 3, 3: 4}}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_family_refuses_is_not_offered(case):
    """Each is refused by the family with types that are else right, and no signature of any target has such a port."""
    name, operand, change = REFUSED[case]
    shapes = SHAPES.get(name, [(2, 4)])
    places = [port.name for port in find("qrt-cpu").signatures(name)[0].inputs]
    for is_right in (True, False):
        inputs = [UniformType("i8", "f32", 0.5) for _ in shapes[:2]]
        if not is_right:
            index = places.index(operand)
            inputs[index] = changed(shapes[index], **change)
        if is_right:
            resolve(name, inputs, UniformType("i8", "f32", 0.5), shapes)
            continue
        with pytest.raises(QuantTypeError):
            resolve(name, inputs, UniformType("i8", "f32", 0.5), shapes)
    rank = len(shapes[places.index(operand)])
    for target in TARGETS.own:
        for kernel in find(target).signatures(name):
            (port,) = [port for port in kernel.inputs if port.name == operand] or [TargetPort("none", "f32")]
            offered = {"axis": port.axis_of(rank), "blocks": port.blocks, "storage": port.storage}
            assert all(offered[key] != value or value is None for key, value in change.items()), (target, port)


def changed(shape, storage="i8", axis=None, blocks=None):
    if axis is not None:
        return UniformType(storage, "f32", [0.5] * shape[axis], axis=axis)
    if blocks is not None:
        scales = 0.5
        for d, size in reversed(list(enumerate(shape))):
            scales = [scales] * (size // blocks[d])
        return UniformType(storage, "f32", scales, block_sizes=blocks)
    return UniformType(storage, "f32", 0.5)


@pytest.mark.parametrize("target", [name for name in TARGETS.own if name != "weight-only"])
def test_a_target_has_every_family_with_a_quantized_form_or_a_reason(target):
    """`weight-only` quantizes nothing but weights."""
    lacking = QUANTIZED - {kernel.name for kernel in find(target).kernels}
    assert lacking == {name for device, name in LEFT_OUT if device == target}


def test_every_family_has_a_quantized_form_or_a_reason():
    assert set(FAMILIES) - set(WITHOUT_REGIONS) == QUANTIZED


def test_kernels_have_the_names_and_the_ports_of_families():
    for target in TARGETS.own:
        for kernel in find(target).kernels:
            if kernel.name not in FAMILIES:
                continue
            operands = FAMILIES[kernel.name].declaration.operands
            said = [(port.name, port.size) for port in kernel.inputs]
            assert said == [(each.name, each.size) for each in operands[: len(said)]] or kernel.name == "matmul"
            assert [port.name for port in kernel.outputs] == ["y"]
