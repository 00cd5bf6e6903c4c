"""Which optional passes are on. Hazards: a pass that makes the result worse and is on, one that gains and is off, a
record of a value that is another one now, a choice that differs with the order of the sample's batches, a loss in
silence."""

from typing import Any

import numpy as np
import pytest

from qrt import ir
from qrt.errors import QuantError, QuantTypeError
from qrt.quantization.calibration.observe import calibrate_program
from qrt.quantization.calibration.records import Record
from qrt.quantization.comparison.measure import Reference
from qrt.quantization.propagation import ranges
from qrt.quantization.steps import NamedProgram, Trial, named, quantized
from qrt.quantization.targets import Target, TargetKernel, TargetPort, register_target
from qrt.quantization.targets.registry import find
from qrt.quantization.tuning.optional_passes import improved, with_corrected_bias
from qrt.quantization.workflow import quantize_program
from qrt.tensor.choose import choose_ranges
from tests.quantization import float_text as ops
from tests.quantization.float_text import Tensor, Text
from tests.quantization.scaling.layers import Array, kernels, keys, program, vector

ROWS = (64, 16)


def network(seed: int, *, normalized: bool = False, spread: bool = False, bias: bool = True) -> str:
    """Two products with a relu between them. With ``spread`` channels differ by factors up to 256 between them."""
    rng = np.random.default_rng(seed)

    def numbers(*shape: int) -> Array:
        return rng.standard_normal(shape).astype(np.float32)

    factors = np.exp2(rng.uniform(-4, 4, 12)).astype(np.float32)

    def body(text: Text, x: Tensor) -> Tensor:
        first, start, second = numbers(16, 12), numbers(12), numbers(12, 4)
        y = ops.matmul(
            text, x, text.constant(first * factors if spread else first), text.constant(start) if bias else None
        )
        if normalized:
            y = ops.mul(text, y, vector(text, factors, y))
            y = ops.add(text, y, vector(text, numbers(12), y))
        y = ops.clamp(text, y, 0, None)
        return ops.matmul(text, y, text.constant(second / factors[:, None] if spread else second))

    return program(ROWS, body)


class Case:
    """A network, its records of more data than the sample has, and its error over the sample."""

    def __init__(self, text: str, target: str = "qrt-cpu", *, positive: bool = False) -> None:
        data = np.random.default_rng(99).standard_normal((256, 16)).astype(np.float32)
        data = np.abs(data) if positive else data
        self.target = find(target)
        self.named = named(ir.parse(text), self.target)
        self.records = calibrate_program(self.named.module, {"arg0": data}).records
        self.batches = [{"arg0": data[:64]}, {"arg0": data[64:128]}]
        self.reference = Reference(self.named, None, self.batches)

    def improved(self, wanted: Any = "auto") -> tuple[NamedProgram, dict[str, Record]]:
        return improved(self.named, self.target, self.records, "mse", self.reference, wanted)

    def trial(self, program: NamedProgram | None = None, records: Any = None) -> Trial:
        return quantized(program or self.named, self.target, records or self.records, "mse")

    def corrected(self, wanted: Any = "auto") -> Trial:
        return with_corrected_bias(self.trial(), self.target, self.reference, wanted)

    def snr(self, trial: Trial) -> float:
        return self.reference.noise(trial.module).snr


def said(made: NamedProgram | Trial, name: str) -> str:
    (message,) = [remark.message for remark in made.remarks if remark.message.startswith(name)]
    return message


def test_a_normalization_is_folded_where_that_gains() -> None:
    case = Case(network(3, normalized=True))
    made, records = case.improved(["fold-scales"])
    auto, _ = case.improved()
    before, after = case.snr(case.trial()), case.snr(case.trial(made, records))
    assert after > before + 3
    assert kernels(case.named.module) == ["matmul", "mul", "add", "matmul"]
    assert kernels(made.module) == kernels(auto.module) == ["matmul", "matmul"]
    expected = f"signal-to-noise at the outputs over the sample: {before:.2f} dB without it, {after:.2f} dB with it"
    assert said(auto, "fold-scales") == f"fold-scales is on: {expected}"
    assert records == case.records  # the values that are left are those that they were, but for how they are rounded
    assert keys(made.module) == ["main/arg0", "main/add.0", "main/matmul.1"]


def test_ranges_of_weights_are_chosen_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three programs are typed to find whether a pass gains, and one more at the end."""
    found: list[bytes] = []

    def counted(values: Array, *arguments: Any) -> Any:
        found.append(values.tobytes())
        return choose_ranges(values, *arguments)

    monkeypatch.setattr(ranges, "choose_ranges", counted)
    data = np.random.default_rng(9).standard_normal((64, 16)).astype(np.float32)
    made = quantize_program(ir.parse(network(3, normalized=True)), {"arg0": data})
    assert any("fold-scales is" in each.message for each in made.remarks)
    assert len(found) == len(set(found))


def test_a_folded_value_that_had_no_key_gets_one_and_records() -> None:
    """A division that no kernel takes gives a value of which nothing was recorded, and the product's records are of
    what it divided: without a key of its own, the value would have no range, or a wrong one."""

    def body(text: Text, x: Tensor) -> Tensor:
        y = ops.matmul(text, x, text.constant(np.eye(16, dtype=np.float32)))
        for low in (1, 3):
            y = text.binary("arith.divf", y, vector(text, np.linspace(low, 2, 16, dtype=np.float32) / 8, y))
        return y

    others = tuple(kernel for kernel in find("qrt-cpu").kernels if kernel.name != "div")
    register_target(Target("without-quotients", others, coarser_bias=True))
    case = Case(program(ROWS, body), "without-quotients")
    made, records = case.improved(["fold-scales"])
    assert kernels(made.module) == ["matmul"]
    assert keys(made.module) == ["main/arg0", "main/matmul.0/folded"]
    assert case.reference.noise(made.module).snr > 100
    assert case.snr(case.trial(made, records)) > 30


def test_a_normalization_stays_where_weights_have_one_scale() -> None:
    """Its factors would make them differ, and the weights of a matrix share one scale on this device."""
    i8 = "i8"
    kernels_of_it = (
        TargetKernel(
            "matmul",
            (
                TargetPort("a", i8),
                TargetPort("w", "i4", symmetric=True),
                TargetPort("bias", "i32", symmetric=True, size="?"),
            ),
            (TargetPort("y", i8),),
            "multiplier_accumulator_scale",
        ),
        TargetKernel("mul", (TargetPort("a", i8), TargetPort("b", i8)), (TargetPort("y", i8),)),
        TargetKernel("add", (TargetPort("a", i8), TargetPort("b", i8)), (TargetPort("y", i8),)),
    )
    register_target(Target("one-scale", kernels_of_it))
    case = Case(network(3, normalized=True), "one-scale")
    made, _ = case.improved(["fold-scales"])
    assert case.snr(case.trial(made)) < case.snr(case.trial())
    auto, _ = case.improved()
    assert said(auto, "fold-scales").startswith("fold-scales is off: signal-to-noise")
    assert "mul" in kernels(auto.module)


def test_channels_are_equalized_where_that_gains() -> None:
    case = Case(network(0, spread=True))
    made, records = case.improved()
    before, after = case.snr(case.trial()), case.snr(case.trial(made, records))
    assert after > before + 20
    assert said(made, "equalize-scales").startswith("equalize-scales is on: ")
    assert not any(remark.message.startswith("fold-scales") for remark in made.remarks)  # it has nothing to fold


def test_only_values_that_changed_have_records_of_the_sample() -> None:
    case = Case(network(0, spread=True))
    made, records = case.improved()
    changed = "main/matmul.0/equalized"
    assert keys(made.module) == ["main/arg0", changed, "main/matmul.1"]
    assert records == case.records | {changed: records[changed]}
    assert records[changed].count == 128 * 12
    assert case.records["main/matmul.0"].count == 256 * 12
    assert records[changed] == calibrate_program(made.module, case.batches).records[changed]
    (first, *_) = [op for op in made.module.operation.walk() if op.name == "quant.region"]
    assert first.attributes["quant.key"].python == changed


def test_channels_stay_where_that_gains_nothing() -> None:
    case = Case(network(1), "int4-weights", positive=True)
    made, records = case.improved()
    forced, others = case.improved(["equalize-scales"])
    assert case.snr(case.trial(forced, others)) < case.snr(case.trial())
    assert said(made, "equalize-scales").startswith("equalize-scales is off: ")
    assert str(made.module) == str(case.named.module)
    assert records == case.records
    assert said(forced, "equalize-scales").startswith("equalize-scales is on: ")  # who names it has it


def test_biases_are_corrected_where_that_gains() -> None:
    """Weights of 4 bits, values that are positive: the errors of weights do not cancel."""
    case = Case(network(0), "int4-weights", positive=True)
    made = case.corrected()
    assert case.snr(made) > case.snr(case.trial()) + 8
    assert said(made, "correct-bias").startswith("correct-bias is on: ")


def test_biases_stay_where_that_gains_nothing() -> None:
    case = Case(network(2))
    made, forced = case.corrected(), case.corrected(["correct-bias"])
    assert case.snr(forced) < case.snr(case.trial())
    assert str(made.module) == str(case.trial().module)
    assert said(made, "correct-bias").startswith("correct-bias is off: ")
    assert case.corrected([]).remarks == case.trial().remarks


def test_the_order_of_batches_decides_nothing() -> None:
    texts = set()
    for order in (1, -1):
        case = Case(network(3, normalized=True), "int4-weights", positive=True)
        reference = Reference(case.named, None, case.batches[::order])
        made, records = improved(case.named, case.target, case.records, "mse", reference)
        trial = quantized(made, case.target, records, "mse")
        corrected = with_corrected_bias(trial, case.target, reference)
        remarks = [remark.message for remark in (*made.remarks, *corrected.remarks)]
        texts.add(f"{corrected.module}{remarks}")
    assert len(texts) == 1


def test_a_value_that_overflows_between_keeps_channels_as_they_are() -> None:
    """The weights are normal before and after. Values of 2^126 would be 2^129, and what is made of them is 2^127."""
    first, second = np.zeros((16, 2), np.float32), np.ones((2, 1), np.float32)
    first[:, 0], second[0] = 2.0**-5, 2

    def body(text: Text, x: Tensor) -> Tensor:
        return ops.matmul(text, ops.matmul(text, x, text.constant(first)), text.constant(second))

    start = named(ir.parse(program((2, 16), body)), find("qrt-cpu"))
    batches = [{"arg0": np.full((2, 16), 2.0**127, np.float32)}]
    reference = Reference(start, None, batches)
    made, _ = improved(start, find("qrt-cpu"), {}, "minmax", reference, ["equalize-scales"])
    message = "equalize-scales is off: a value between leaves the normal numbers of its type"
    assert said(made, "equalize-scales") == message
    assert made.module is start.module


def test_a_target_that_refuses_the_changed_program_keeps_the_other() -> None:
    """What runs by default may not break what ran without it; what is asked for is an error."""

    def no_bias(inputs: list[Any], outputs: list[Any]) -> tuple[list[int], list[int]]:
        if len(inputs) == 3:
            raise QuantTypeError("no biases today")
        return [], []

    ports = (
        TargetPort("a", "i8"),
        TargetPort("w", "i8", -127, 127, symmetric=True),
        TargetPort("bias", "i32", symmetric=True, size="?"),
    )
    plain = (
        TargetKernel(name, (TargetPort("a", "i8"), TargetPort("b", "i8")), (TargetPort("y", "i8"),))
        for name in ("mul", "add")
    )
    register_target(Target("shy", (TargetKernel("matmul", ports, (TargetPort("y", "i8"),), no_bias), *plain)))
    case = Case(network(3, normalized=True, bias=False), "shy")
    made, _ = case.improved()
    assert "no biases today" in said(made, "fold-scales is off: ")
    assert kernels(made.module) == ["matmul", "mul", "add", "matmul"]
    with pytest.raises(QuantError, match="no biases today"):
        case.improved(["fold-scales"])


def test_what_is_no_pass_is_refused() -> None:
    case = Case(network(5))
    for wrong, message in (
        ("fold-scales", "'auto' or a sequence"),
        (["fold"], "must be among fold-scales"),
        (3, "got 3"),
    ):
        with pytest.raises(QuantTypeError, match=message):
            case.improved(wrong)


def test_a_pass_that_is_asked_for_and_finds_nothing_says_so() -> None:
    made, _ = Case(network(5)).improved(["fold-scales"])
    assert said(made, "fold-scales") == "fold-scales is off: there is nothing that it changes"
