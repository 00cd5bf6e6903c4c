"""Reports of networks into which a fault is planted. Hazard: a report that names another region than the faulty one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from qrt import ir
from qrt.ir import ArrayAttr, TypeAttr
from qrt.quantization.calibration.observe import calibrate_program
from qrt.quantization.calibration.records import Record
from qrt.quantization.explain import report_of
from qrt.quantization.report import Report
from qrt.quantization.steps import NamedProgram, copied, named, quantized
from qrt.quantization.targets.registry import find
from qrt.types import UniformType
from tests.quantization import float_text as ops
from tests.quantization.float_text import Tensor, Text

TARGET = find("qrt-cpu")
ROWS = np.random.default_rng(0).normal(size=(16, 8, 8, 3)).astype(np.float32)
BATCHES = [{"arg0": ROWS[start : start + 4]} for start in range(0, 16, 4)]


def network() -> str:
    """Three convolutions, a pool, a mean over pixels, and logits, of drawn weights."""
    text, x = Text(), Tensor("%x", (4, 8, 8, 3))
    rng = np.random.default_rng(2)

    def drawn(*shape: int, inputs: float) -> Tensor:
        return text.constant((rng.normal(size=shape) * inputs**-0.5).astype(np.float32))

    h = ops.conv2d(text, x, drawn(3, 3, 3, 8, inputs=14), drawn(8, inputs=100), relu=True, padding=1)
    h = ops.max_pool2d(text, h)
    for _ in range(2):
        h = ops.conv2d(text, h, drawn(3, 3, 8, 8, inputs=36), drawn(8, inputs=100), relu=True, padding=1)
    h = ops.mean(text, h, axes=[1, 2])
    return text.function("main", [x], [ops.matmul(text, h, drawn(8, 10, inputs=8), drawn(10, inputs=100))])


@dataclass(frozen=True)
class Sound:
    """The network without a fault."""

    program: NamedProgram
    regions: ir.Module
    records: dict[str, Record]
    report: Report


def explained(program: NamedProgram, records: dict[str, Record]) -> Report:
    return report_of(program, quantized(program, TARGET, records, "minmax"), TARGET, BATCHES)


@cache
def sound() -> Sound:
    program = named(ir.parse(network(), filename="network.mlir"), TARGET)
    records = calibrate_program(program.module, {"arg0": ROWS}).records
    regions = quantized(program, TARGET, records, "minmax").regions
    return Sound(program, regions, records, explained(program, records))


def held(key: str, change: Callable[[UniformType], UniformType]) -> NamedProgram:
    """The network with the weights of a region held at another type than they would get."""

    def specs(module: ir.Module) -> tuple[ir.Operation, list[ir.Attribute]]:
        operations = (op for op in module.operation.walk() if op.name == "quant.region")
        region = next(op for op in operations if str(op.attributes["quant.key"]) == f'"{key}"')
        found = region.attributes["input_specs"]
        assert isinstance(found, ArrayAttr)
        return region, list(found.elements)

    sound_type = specs(sound().regions)[1][1]
    assert isinstance(sound_type, TypeAttr)
    assert isinstance(sound_type.type, UniformType)
    module = copied(sound().program.module)
    region, types = specs(module)
    types[1] = TypeAttr(change(sound_type.type))
    region.attributes["input_specs"] = ArrayAttr(tuple(types))
    return replace(sound().program, module=module)


def times_8(type: UniformType) -> UniformType:
    return type.with_(scales=[8 * scale for scale in type.scale_array.reshape(-1).tolist()])


def of_2_bits(type: UniformType) -> UniformType:
    """With the same range."""
    scales = [scale * (type.storage_max - type.storage_min) / 3 for scale in type.scale_array.reshape(-1).tolist()]
    return type.with_(scales=scales, storage_min=-2, storage_max=1)


def faulty(report: Report) -> list[str]:
    """Regions with a port of another type than in the sound network."""
    known = sound().report
    return [
        key for key, region in report.items() if {p.spec for p in region.ports} != {p.spec for p in known[key].ports}
    ]


def check(report: Report, expected: str) -> None:
    """The faulty region is the worst, and costs more than all others together."""
    assert expected in faulty(report)
    assert next(iter(report)) == expected
    assert report.regions[0].error_share > 0.5
    assert report.outputs[0].snr < sound().report.outputs[0].snr - 2
    assert report.text().split("\n\n")[1].splitlines()[1].endswith(expected)


@pytest.mark.parametrize(
    ("kernel", "change"), [("conv2d.1", times_8), ("conv2d.0", of_2_bits), ("matmul.0", of_2_bits)]
)
def test_weights_of_a_wrong_type_are_found(kernel: str, change: Callable[[UniformType], UniformType]) -> None:
    report = explained(held(f"main/{kernel}", change), sound().records)
    check(report, f"main/{kernel}")
    assert faulty(report) == [f"main/{kernel}"]
    assert report.regions[0].error_share > 0.8


@pytest.mark.parametrize(
    ("name", "high"), [("conv2d.1", "8 times"), ("arg0", "1e6"), ("conv2d.2", "1e6"), ("mean.0", "8 times")]
)
def test_a_value_of_a_wrong_range_is_found(name: str, high: str) -> None:
    """It is blamed on the region that computes it, not on those that read it. Nobody computes the argument."""
    records = dict(sound().records)
    record = records[f"main/{name}"]
    factor = 8 if high == "8 times" else 1e6 / record.high
    records[f"main/{name}"] = replace(record, low=record.low * factor, high=record.high * factor)
    check(explained(sound().program, records), "main/conv2d.0" if name == "arg0" else f"main/{name}")
