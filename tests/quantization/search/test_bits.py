"""Which ports have widths to choose. Hazards: a width that the target gives otherwise than it was asked for; one weight
that several kernels or calls take, with two widths or counted twice; an annotation that the search overrides; a bias
that counts as a weight; ports of one type with two widths."""

from typing import Any

import pytest

from qrt import ir
from qrt.ir.dialects.quant.region import RegionOp
from qrt.quantization.search.bits import WidthChoice, choices_of, numbered, stored_bits, widths_of, with_widths
from qrt.quantization.search.runner import Runner
from qrt.quantization.steps import NamedProgram, named, quantized
from qrt.quantization.targets.model import Target, TargetKernel, TargetPort
from qrt.quantization.targets.registry import find, register_target
from qrt.types import AnyQuantizedType, parse_type
from tests.quantization.networks import NETWORKS
from tests.quantization.search.programs import CELL, drawn, small, subject


def choices(program: NamedProgram, target: str = "qrt-cpu", records: Any = None) -> tuple[WidthChoice, ...]:
    device, start = find(target), numbered(program)
    found = widths_of(quantized(start, device, records or {}, "mse").regions)
    return choices_of(start, device, found)


def described(every: tuple[WidthChoice, ...]) -> list[tuple[str, tuple[int, ...], int, int]]:
    return [(each.name, each.widths, each.default, each.elements) for each in every]


def network(name: str) -> NamedProgram:
    return named(ir.parse(NETWORKS[name]().text), find("qrt-cpu"))


def test_weights_come_first_and_biases_are_none() -> None:
    found = choices(network("perceptron"))
    assert described(found) == [
        ("main/matmul.0 w", (4, 8, 16), 8, 512),
        ("main/matmul.1 w", (4, 8, 16), 8, 1024),
        ("main/matmul.2 w", (4, 8, 16), 8, 320),
        ("main/matmul.0 a", (8, 16), 8, 0),
        ("main/matmul.1 y", (8, 16), 8, 0),
        ("main/add.0 y", (8, 16), 8, 0),
    ]
    assert [each.is_weight for each in found] == [True] * 3 + [False] * 3
    tables = [each for each in found if "lookup" in each.name or "softmax" in each.name]
    assert tables == []  # their kernels read 8 bits


@pytest.mark.parametrize("name", ["perceptron", "convolutional"])
def test_each_width_that_is_offered_is_what_the_ports_have(name: str) -> None:
    program, target = network(name), find("qrt-cpu")
    start, every = numbered(program), choices(program)
    default = [each.default for each in every]
    assert len(every) > 4
    for number, choice in enumerate(every):
        for width in {*choice.widths} - {choice.default}:
            wanted = (*default[:number], width, *default[number + 1 :])
            found = widths_of(quantized(with_widths(start, every, wanted), target, {}, "mse").regions)
            assert {found[place] for place in choice.places} == {width}
            others = [each for each in every if each is not choice and each.is_weight]
            assert all({found[p] for p in each.places} == {each.default} for each in others)


def test_a_width_is_written_as_a_least_width() -> None:
    program = network("perceptron")
    before, every = str(program.module), choices(program)
    asked = with_widths(program, every, (4, 8, 16, 8, 16, 8))
    specs = [spec for op in asked.module.operation.walk() if isinstance(op, RegionOp) for spec in op.specs]
    widths = [each.storage_width for each in specs if isinstance(each, AnyQuantizedType)]
    assert widths == [4, 16, 16, 16]  # the value of 16 bits has a definition and a use
    assert "!quant.any<i4:f32>" in str(asked.module)
    assert str(program.module) == before
    assert str(with_widths(program, every, (8,) * 6).module) == before


def test_one_constant_of_many_kernels_is_one_weight() -> None:
    """An unrolled cell takes six matrices in every step. The state that it begins with is a constant too."""
    found = [each for each in choices(network("recurrent")) if each.is_weight]
    products = [each for each in found if "matmul" in each.name and each.name.endswith("w")]
    assert [each.elements for each in products] == [72, 144, 72, 144, 144, 72, 60]
    assert [len(each.places) for each in products] == [2] * 6 + [1]


def test_a_function_has_one_width_for_all_calls() -> None:
    """Two calls give it one matrix and the third another: both have the width of its port, and count once each."""
    made = subject(CELL, drawn(CELL, 1))
    found = [each for each in choices(made.named, records=made.records) if each.is_weight]
    assert described(tuple(found)) == [("cell/matmul.0 w", (4, 8, 16), 8, 32), ("cell/matmul.1 w", (4, 8, 16), 8, 16)]
    every = choices(made.named, records=made.records)
    wanted = (4, 16, *(each.default for each in every[2:]))
    trial = quantized(with_widths(numbered(made.named), every, wanted), find("qrt-cpu"), made.records, "mse")
    assert stored_bits(every, widths_of(trial.regions)) == 32 * 4 + 16 * 16
    products = [op for op in trial.regions.operation.walk() if isinstance(op, RegionOp) and op.kernel == "matmul"]
    assert [op.input_specs[1].storage_width for op in products] == [4, 16] * 3  # type: ignore[attr-defined]


def test_annotations_stay() -> None:
    """A type that is given leaves no choice and takes its bytes; a least width leaves those above."""
    program = small().named
    module = ir.parse(str(program.module))
    regions = [op for op in module.operation.walk() if isinstance(op, RegionOp) and op.kernel == "matmul"]
    regions[0].set_spec(1, parse_type("!quant.uniform<i4:f32, 0.25>"))
    regions[1].set_spec(1, parse_type("!quant.any<i8:f32>"))
    regions[2].set_spec(1, parse_type("!quant.calibrated<f32<-1.0:1.0>>"))
    found = choices(NamedProgram(module, ()), records=small().records)
    assert [each[1:] for each in described(found)[:3]] == [((4,), 4, 96), ((8, 16), 8, 48), ((8,), 8, 24)]


@pytest.mark.parametrize(("target", "widths"), [("tflite", (8,)), ("int16x8", (8,)), ("int4-weights", (4,))])
def test_other_targets_offer_what_they_have(target: str, widths: tuple[int, ...]) -> None:
    program = named(ir.parse(NETWORKS["perceptron"]().text), find(target))
    found = choices(program, target)
    assert [each.widths for each in found if each.is_weight] == [widths] * 3
    assert [each for each in found if not each.is_weight] == []


def test_weights_have_at_most_16_bits() -> None:
    """A kernel that takes i32 too offers what sums need."""
    a, y, bias = TargetPort("a", "i8"), TargetPort("y", "i8"), TargetPort("bias", "i32", axis=0, size="?")
    kinds = tuple(
        TargetKernel(
            "matmul", (a, TargetPort("w", storage, symmetric=True), bias), (y,), "multiplier_accumulator_scale"
        )
        for storage in ("i8", "i32", "i16")
    )
    register_target(Target("wide-weights", (*kinds, *(k for k in find("qrt-cpu").kernels if k.name != "matmul"))))
    program = named(ir.parse(NETWORKS["perceptron"]().text), find("wide-weights"))
    assert [each.widths for each in choices(program, "wide-weights") if each.is_weight] == [(8, 16)] * 3


def test_floats_are_no_choice() -> None:
    assert choices(named(ir.parse(NETWORKS["perceptron"]().text), find("bf16")), "bf16") == ()


def test_ports_of_one_type_are_one_choice() -> None:
    """A max pool and a clamp store their result as their operand."""
    values = {each.name: each for each in choices(network("convolutional")) if not each.is_weight}
    for place in [each.places for each in values.values()]:
        assert len(place) == len(set(place))
    regions = [op for op in network("convolutional").module.operation.walk() if isinstance(op, RegionOp)]
    tied = [number for number, op in enumerate(regions) if op.kernel in ("max_pool2d", "clamp")]
    assert len(tied) == 2
    for number in tied:
        holding = [each for each in values.values() if (number, 0) in each.places]
        assert [(number, 1) in each.places for each in holding] == [True]


def test_a_runner_says_the_number_of_each_trial() -> None:
    told: list[tuple[Any, ...]] = []
    run = Runner(
        small().named, find("qrt-cpu"), small().records, "mse", small().reference, None, lambda *each: told.append(each)
    )
    run(run.default, 7)
    assert told == [("search", 7, None)]
