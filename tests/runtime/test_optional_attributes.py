"""Each optional attribute of each op, left out alone and with all others: the program verifies, prints, lowers and runs
as it does with the default written out. Hazards: a pass that reads an attribute that is not there; a default that two
places know; a rewrite beside the op that takes its attributes."""

from dataclasses import dataclass, field

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir.core.registry import every_definition
from qrt.ir.dialects.qrt.ops import specs_of
from qrt.ops import FAMILIES
from qrt.ops.core import element_dtype
from qrt.types import FloatType, IntegerType, UniformType

Q = "!quant.uniform<i8:f32, 0.5:3>"
W = "!quant.uniform<i8:f32, 0.25>"
R = "!quant.uniform<i8:f32, 1.5:-2>"
WORD = "!quant.uniform<i16:f32, 2.44140625e-04>"
UNIT = "!quant.uniform<i16:f32, 3.0517578125e-05>"
SUM = "!quant.uniform<i32:f32, 0.015625>"
BYTE = "!quant.uniform<i8:f32, 0.125>"
IMAGE, KERNEL = f"2x4x4x2x{Q}", f"3x2x2x2x{W}"
LSTM = f"1x5x3x{BYTE}", *[f"2x3x{BYTE}"] * 4, *[f"2x2x{BYTE}"] * 4, *[f"2x{SUM}"] * 4, f"1x2x{BYTE}", f"1x2x{WORD}"


@dataclass
class Case:
    """An op: the types of its operands and results, with the attributes that it needs, and those whose default depends
    on the types, as the text writes them."""

    operands: tuple[str, ...]
    results: tuple[str, ...]
    needed: dict[str, str] = field(default_factory=dict)
    spelled: dict[str, str] = field(default_factory=dict)
    lowers: bool = True


CASES = {
    "qrt.add": Case((f"2x3x{Q}", f"2x3x{W}"), (f"2x3x{R}",)),
    "qrt.sub": Case((f"2x3x{Q}", f"2x3x{W}"), (f"2x3x{R}",)),
    "qrt.mul": Case((f"2x3x{Q}", f"2x3x{W}"), (f"2x3x{R}",)),
    "qrt.div": Case((f"2x3x{Q}", f"2x3x{W}"), (f"2x3x{R}",)),
    "quant.qcast": Case(("2x3xf32",), (f"2x3x{Q}",)),
    "qrt.requantize": Case((f"2x3x{Q}",), (f"2x3x{R}",)),
    "qrt.clamp": Case((f"2x3x{Q}",), (f"2x3x{Q}",), spelled={"min": "-65.5 : f64", "max": "62.0 : f64"}),
    "qrt.conv2d": Case((IMAGE, KERNEL), (f"2x3x3x3x{R}",)),
    "quant.conv2d": Case(
        (IMAGE, KERNEL), (f"2x3x3x3x{R}",), spelled={"output_scale": "1.5 : f64", "output_zero_point": "-2 : i64"}
    ),
    "quant.matmul": Case(
        (f"2x3x{Q}", f"3x2x{W}"),
        (f"2x2x{R}",),
        spelled={"output_scale": "1.5 : f64", "output_zero_point": "-2 : i64"},
    ),
    "qrt.cumsum": Case(("2x3xf32",), ("2x3xf32",)),
    "qrt.depthwise_conv2d": Case((IMAGE, f"2x2x2x{W}"), (f"2x3x3x2x{R}",)),
    "qrt.detection_postprocess": Case(
        ("6x4xf32", "6x3xf32"), ("10x4xf32", "10xf32", "10xf32", "1xf32"), lowers=False
    ),
    "qrt.non_max_suppression": Case(("6x4xf32", "6xf32"), ("10xi32", "10xf32", "i32"), lowers=False),
    "qrt.dynamic_lstm": Case(
        ("5x1x3xf32", f"3x8x{BYTE}", f"2x8x{BYTE}", "8xf32", "1x2xf32", "1x2xf32"), ("5x1x2xf32", "1x2xf32", "1x2xf32")
    ),
    "qrt.reduce_max": Case((f"2x3x{Q}",), (Q,), spelled={"axes": "[0, 1]"}),
    "qrt.reduce_min": Case((f"2x3x{Q}",), (Q,), spelled={"axes": "[0, 1]"}),
    "qrt.argmax": Case((f"2x3x{Q}",), ("2xi64",)),
    "qrt.argmin": Case((f"2x3x{Q}",), ("2xi64",)),
    "qrt.gather": Case((f"2x3x{Q}", "2xi64"), (f"2x3x{Q}",)),
    "qrt.lstm": Case(LSTM, (f"1x5x2x{BYTE}", f"1x2x{BYTE}", f"1x2x{WORD}")),
    "qrt.matmul": Case((f"2x3x{Q}", f"3x2x{W}"), (f"2x2x{R}",)),
    "qrt.mean": Case((f"2x3x{Q}",), (R,), spelled={"axes": "[0, 1]"}),
    "qrt.sum": Case((f"2x3x{Q}",), (R,), spelled={"axes": "[0, 1]"}),
    "qrt.reshape": Case((f"2x3x{Q}",), (f"6x{Q}",), spelled={"open_axes": "[]"}),
    "qrt.transpose": Case((f"2x3x{Q}",), (f"3x2x{Q}",), spelled={"permutation": "[1, 0]"}),
    "qrt.concat": Case((f"2x3x{Q}", f"2x3x{W}"), (f"4x3x{Q}",)),
    "qrt.pad": Case((f"2x3x{Q}",), (f"3x5x{Q}",), {"padding": "[[0, 1], [1, 1]]"}, {"value": "0.0 : f64"}),
    "qrt.avg_pool2d": Case((IMAGE,), (f"2x2x2x2x{R}",)),
    "qrt.max_pool2d": Case((IMAGE,), (f"2x2x2x2x{Q}",)),
    "qrt.svdf": Case((f"5x3x{BYTE}", f"2x3x{BYTE}", f"2x4x{WORD}", f"5x8x{WORD}"), (f"5x2x{BYTE}", f"5x8x{WORD}")),
    "qrt.resize_bilinear": Case((IMAGE,), (f"2x7x3x2x{Q}",), {"size": "[7, 3]"}),
    "qrt.resize_nearest": Case((IMAGE,), (f"2x7x3x2x{Q}",), {"size": "[7, 3]"}),
    "qrt.scatter_nd": Case((f"2x3x{Q}", "1x1xi64", f"1x3x{Q}"), (f"2x3x{Q}",)),
    "qrt.logistic": Case((f"2x3x{WORD}",), (f"2x3x{UNIT}",)),
    "qrt.tanh": Case((f"2x3x{WORD}",), (f"2x3x{UNIT}",)),
    "qrt.slice": Case(
        (f"2x3x{Q}",), (f"2x3x{Q}",), spelled={"offsets": "[0, 0]", "sizes": "[-1, -1]", "strides": "[1, 1]"}
    ),
    "qrt.tile": Case((f"2x3x{Q}",), (f"2x6x{Q}",), {"multiples": "[1, 2]"}),
    "qrt.leaky_relu": Case((f"2x3x{Q}",), (f"2x3x{R}",)),
    "qrt.prelu": Case((f"2x3x{Q}", f"2x3x{W}"), (f"2x3x{R}",)),
    "qrt.softmax": Case((f"2x3x{Q}",), ("2x3x!quant.uniform<i8:f32, 0.00390625:-128>",)),
    "qrt.log_softmax": Case((f"2x3x{Q}",), ("2x3x!quant.uniform<i8:f32, 0.0625:127>",)),
    "qrt.top_k": Case((f"2x3x{Q}",), (f"2x1x{Q}", "2x1xi32")),
    "qrt.transpose_conv2d": Case((IMAGE, KERNEL), (f"2x5x5x3x{R}",)),
    "quant.const_fake_quant": Case(
        ("2x3xf32",), ("2x3xf32",), {"min": "-1.0 : f32", "max": "3.0 : f32", "num_bits": "8 : i64"}
    ),
    "quant.const_fake_quant_per_axis": Case(
        ("2x3xf32",), ("2x3xf32",),
        {"min": "[-1.0 : f32, 0.0 : f32]", "max": "[3.0 : f32, 1.0 : f32]", "axis": "0 : i64", "num_bits": "8 : i64"},
    ),
}  # fmt: skip
GENERIC = frozenset(name for name in CASES if name.startswith("quant.") and name != "quant.qcast")


def spell(value):
    if isinstance(value, tuple):
        return str([list(part) if isinstance(part, tuple) else part for part in value])
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value} : {'i64' if isinstance(value, int) else 'f64'}"


def optional_of(name):
    """The optional attributes of an op, with their defaults as text."""
    case = CASES[name]
    family = FAMILIES.get(name.partition(".")[2])
    defaults = family.declaration.defaults if family is not None else {"narrow_range": False, "is_signed": False}
    known = {key: spell(value) for key, value in defaults.items() if key not in case.needed and value is not None}
    return known | case.spelled


def program(name, attributes, between):
    """The op alone, or ``between`` two transposes, which rewrites carry through it, and clamps."""
    case = CASES[name]
    names = [f"%x{index}" for index in range(len(case.operands))]
    lines, read, types = [], list(names), [f"tensor<{text}>" for text in case.operands]
    results = [f"tensor<{text}>" for text in case.results]
    given = list(types)
    rank = qrt.parse_type(types[0]).rank
    if between and rank == 2:
        rows, columns, element = case.operands[0].split("x", 2)
        given[0] = f"tensor<{columns}x{rows}x{element}>"
        lines.append(f"%t = qrt.transpose %x0 : ({given[0]}) -> {types[0]}")
        read[0] = "%t"
    said = ", ".join(f"{key} = {value}" for key, value in attributes.items())
    made = [f"%r{index}" for index in range(len(results))]
    signature = f"({', '.join(types)}) -> ({', '.join(results)})"
    if name in GENERIC:
        lines.append(f'{", ".join(made)} = "{name}"({", ".join(read)}) {{{said}}} : {signature}')
    elif name == "quant.qcast":
        lines.append(f"%r0 = quant.qcast {read[0]} {{{said}}} : {types[0]} to {results[0]}")
    else:
        lines.append(f"{', '.join(made)} = {name} {', '.join(read)} {{{said}}} : {signature}")
    last = qrt.parse_type(results[0])
    if between and isinstance(last.element, UniformType):
        lines.append(f"%c = qrt.clamp {made[0]} {{max = 3.0 : f64}} : ({results[0]}) -> {results[0]}")
        made[0] = "%c"
    if between and last.rank:
        turned = str(last.with_(shape=last.shape[::-1]))
        lines.append(f"%u = qrt.transpose {made[0]} : ({results[0]}) -> {turned}")
        made[0], results[0] = "%u", turned
    arguments = ", ".join(f"{each}: {type}" for each, type in zip(names, given, strict=True))
    lines.append(f"return {', '.join(made)} : {', '.join(results)}")
    newline = "\n  "
    return f"func.func @f({arguments}) -> ({', '.join(results)}) {{{newline}{newline.join(lines)}\n}}"


def arrays_for(module):
    rng = np.random.default_rng(7)
    arrays = {}
    for port in qrt.compile(module).inputs:
        element, shape = port.type.element, port.type.shape
        if isinstance(element, FloatType):
            arrays[port.name] = rng.uniform(0, 1, shape).astype(np.float32)
        elif isinstance(element, IntegerType):
            arrays[port.name] = rng.integers(0, 2, shape).astype(element_dtype(element))
        else:
            arrays[port.name] = rng.integers(-100, 100, shape).astype(element_dtype(element))
    return arrays


def results_of(module, arrays, lowers):
    """The bits of the plan, the interpreter and the lowered program."""
    runs = [qrt.compile(module).run(arrays), qrt.compile(module).run(arrays, interpret=True)]
    if lowers:
        lowered = ir.run_passes(ir.parse(str(module)), "canonicalize,lower-qrt,lower-quant-ops,canonicalize")
        assert not {op.name for op in lowered.operation.walk() if op.name.startswith("qrt.")}
        runs.append(qrt.compile(lowered).run(arrays))
    stored = [[getattr(value, "storage", value) for value in run.values()] for run in runs]
    for other in stored[1:]:
        for one, another in zip(stored[0], other, strict=True):
            np.testing.assert_array_equal(one, another)
    return stored[0]


@pytest.mark.parametrize("between", [False, True], ids=["alone", "between"])
@pytest.mark.parametrize("name", CASES)
def test_an_attribute_left_out_is_its_default(name, between):
    case, optional = CASES[name], optional_of(name)
    written = ir.parse(program(name, case.needed | optional, between))
    written.verify()
    arrays = arrays_for(written)
    expected = results_of(written, arrays, case.lowers)
    dropped = [*([key] for key in optional), list(optional)]
    for keys in dropped:
        kept = {key: value for key, value in (case.needed | optional).items() if key not in keys}
        module = ir.parse(program(name, kept, between))
        module.verify()
        assert ir.parse(str(module)) == module
        assert ir.parse(module.print(generic=True)) == module
        for got, wanted in zip(results_of(module, arrays, case.lowers), expected, strict=True):
            np.testing.assert_array_equal(got, wanted, f"without {', '.join(keys)}")


def test_every_op_with_an_optional_attribute_is_tried():
    """Those of `quant` that say more, and have no default: an axis of statistics."""
    declared = {family.declaration.op for family in FAMILIES.values() if family.declaration.attributes}
    extras = {
        name
        for name, definition in every_definition().items()
        if name.startswith("quant.") and any(not spec.required for spec in definition.attributes.values())
    }
    assert (declared | extras) - set(CASES) == {"quant.stats"}
    for name, case in CASES.items():
        family = FAMILIES.get(name.partition(".")[2])
        if family is not None and name.startswith("qrt."):
            assert set(optional_of(name)) | set(case.needed) == set(specs_of(family.declaration))
