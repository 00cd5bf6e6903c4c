"""Draws annotated float programs, quantizes them for every target of qrt, and checks what must hold of each:

    python -m tests.quantization.random_floats --count 1000 [--seed 1]

Prints what was counted, and every program of which something does not hold. The status is 1 if there are any.
"""

import argparse
import hashlib
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import qrt
from qrt import ir
from qrt.ir import Module
from qrt.ir.remarks import remarks_to
from qrt.quantization.targets.registry import find
from qrt.quantization.verification.check_quant import violations
from tests.quantization import checks
from tests.quantization.draw_floats import draw_floats
from tests.quantization.draw_graph import Graph

EXAMPLES = Path(__file__).parents[2] / "examples" / "targets"
TARGETS = (
    "qrt-cpu",
    "tflite",
    "int16x8",
    "int4-weights",
    "bf16",
    "weight-only",
    str(EXAMPLES / "npu.py"),
    str(EXAMPLES / "dsp.py"),
)
MOST = 4


@dataclass
class Quantized:
    """A drawn float program, and its regions after propagation. Nothing of it is refused."""

    seed: str
    target: str
    most: int = MOST

    @cached_property
    def graph(self) -> Graph:
        return draw_floats(self.seed, self.target, self.most)

    @cached_property
    def number(self) -> int:
        return int(hashlib.sha256(self.seed.encode()).hexdigest()[:8], 16)

    @cached_property
    def module(self) -> Module:
        module = ir.parse(self.graph.text, "f.mlir")
        functions = "duplicate" if self.number % 4 == 0 else "inline"
        with remarks_to(None):
            ir.run_passes(module, f"fuse-kernels{{target={self.target}}}")
            ir.run_passes(module, f"propagate-quant{{target={self.target} functions={functions}}}")
        module.verify()
        return module


def drawn(count: int, seed: str, most: int = MOST) -> Iterator[Quantized]:
    return (Quantized(f"{seed}/{n}", TARGETS[n % len(TARGETS)], most) for n in range(count))


def computes_as_float(one: Quantized) -> Counter[str]:
    """A program whose annotations do not round computes what it does without them."""
    lines = one.graph.text.splitlines()
    if any("const_fake_quant" in line or ("quant.qcast" in line and "!quant.uniform" in line) for line in lines):
        return Counter()
    inputs = one.graph.draw(one.number)
    results = [qrt.compile(text)(*inputs) for text in (one.graph.text, one.graph.plain)]
    parts = [[np.asarray(part).tobytes() for part in each] for each in results]
    assert parts[0] == parts[1]
    return Counter({"annotated programs as float": 1})


def has_no_violation(one: Quantized) -> Counter[str]:
    assert [str(each) for each in violations(one.module, find(one.target))] == []
    kernels = Counter(checks.kernel_of(region) for region in checks.regions(one.module))
    return Counter({f"regions of {name}": count for name, count in kernels.items()})


def has_equal_bits(one: Quantized) -> Counter[str]:
    """Fixed and generated code, the interpreter, and the text read again agree."""
    inputs = one.graph.draw(one.number)
    with remarks_to(None):
        results = checks.same_bits(one.module, one.target, inputs)
        text = str(checks.exported(one.module, "fixed", one.target))
    again = ir.parse(text)
    assert str(again) == text
    assert not any(name in text for name in ("quant.region", "quant.calibrated", "quant.any", "quant.none"))
    second = qrt.compile(again)(*inputs)
    assert [np.asarray(value).tobytes() for value in second] == [value.tobytes() for value in results]
    return Counter(executed=1)


def is_exact(one: Quantized) -> Counter[str]:
    """Each region alone, fed codes, is within half a code of its body in f64."""
    counts = Counter[str]()
    with remarks_to(None):
        distances = checks.codes_from_exact(one.module, one.target, np.random.default_rng(one.number))
    for region, distance in distances:
        assert distance <= 0.5 + checks.SLACK + checks.sum_slack(region), f"{distance} codes from exact: {region}"
        counts["regions within half a code"] += 1
    return counts


CHECKS = (computes_as_float, has_no_violation, has_equal_bits, is_exact)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--most", type=int, default=MOST, help="steps of a program")
    given = parser.parse_args()
    counts, broken = Counter[str](), 0
    for one in drawn(given.count, given.seed, given.most):
        for check in CHECKS:
            try:
                counts += check(one)
            except Exception:
                broken += 1
                print(f"{one.seed} {one.target}: {check.__name__}\n{traceback.format_exc(limit=-3)}")
    for name, count in sorted(counts.items()):
        print(f"{count:8} {name}")
    print(f"{broken:8} checks that do not hold")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
