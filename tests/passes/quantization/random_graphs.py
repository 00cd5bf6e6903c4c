"""Draws float programs whose operations stand in regions, quantizes them, and checks all that must hold of each:

    python -m tests.passes.quantization.random_graphs --count 1000 [--seed 1]

Prints what was counted, and every program of which something does not hold. The status is 1 if there are any.
"""

import argparse
import hashlib
import os
import random
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import qrt
from qrt import ir
from qrt.calibrate.targets.registry import find
from qrt.errors import QuantError
from qrt.ir import Module
from qrt.passes.quantization.check_quant import broken_annotations, violations
from qrt.passes.quantization.propagate_quant import Outcome, propagate
from tests.docs.documents import ROOT
from tests.ops.harness import Array
from tests.passes.quantization import checks
from tests.passes.quantization.draw_graph import Graph, draw_graph

SHUFFLES = 2
TARGETS = ("qrt-cpu", "qrt-cpu", "tflite", "int16x8")
MODULE = "tests.passes.quantization.random_graphs"


@dataclass
class Quantized:
    """A drawn program before and after propagation. What the target refuses is an error with a place, in `refused`."""

    seed: str
    target: str

    @cached_property
    def graph(self) -> Graph:
        return draw_graph(self.seed, self.target)

    @cached_property
    def inputs(self) -> list[Array]:
        return self.graph.draw(int(hashlib.sha256(self.seed.encode()).hexdigest()[:8], 16))

    def propagated(self, order: list[int] | None = None, cause: checks.Cause | None = None) -> tuple[Module, Outcome]:
        """With the heap in an order, or the annotation made that a cause names."""
        module = checks.read(self.graph.text)
        if cause is not None:
            checks.annotated(module, cause)
        outcome = propagate(module, find(self.target), order=order)
        module.verify()
        return module, outcome

    @cached_property
    def _propagated(self) -> tuple[str, Outcome | None]:
        try:
            module, outcome = self.propagated()
        except QuantError as error:
            assert "f.mlir:" in str(error), f"an error without a place: {error}"
            return str(error), None
        return str(module), outcome

    @property
    def text(self) -> str:
        return self._propagated[0]

    @property
    def outcome(self) -> Outcome:
        assert self._propagated[1] is not None
        return self._propagated[1]

    @property
    def refused(self) -> str:
        return "" if self._propagated[1] is not None else self.text


def drawn(count: int, seed: str) -> Iterator[Quantized]:
    return (Quantized(f"{seed}/{n}", TARGETS[n % len(TARGETS)]) for n in range(count))


# -- what must hold ---------------------------------------------------------------------------------------------------


def computes_as_float(one: Quantized) -> Counter[str]:
    """The annotated program computes what the one without regions and annotations does."""
    annotated, plain = (qrt.compile(text) for text in (one.graph.text, one.graph.plain))
    results = [program(*one.inputs) for program in (annotated, plain)]
    assert [value.tobytes() for value in results[0]] == [value.tobytes() for value in results[1]]
    return Counter()


def is_within_the_bound(one: Quantized) -> Counter[str]:
    assert 0 < one.outcome.visits <= one.outcome.bound
    return Counter(visits=one.outcome.visits, bound=one.outcome.bound)


def ignores_the_order(one: Quantized) -> Counter[str]:
    """Any start of the heap gives the same text."""
    rng = random.Random(one.seed)
    numbers = list(range(len(checks.regions(checks.read(one.graph.text)))))
    for _ in range(SHUFFLES):
        rng.shuffle(numbers)
        assert str(one.propagated(numbers)[0]) == one.text, f"another result in the order {numbers}"
    return Counter(orders=SHUFFLES)


def has_no_violation(one: Quantized) -> Counter[str]:
    """`check-quant` finds none, and what annotations ask for is there."""
    module = ir.parse(one.text, "quantized.mlir")
    assert [str(each) for each in violations(module, find(one.target))] == []
    annotated, quantized = checks.read(one.graph.text), one.propagated()[0]
    assert [str(each) for each in broken_annotations(annotated, quantized)] == []
    return Counter(regions=len(checks.regions(module)), ports=_ports(module))


def _ports(module: Module) -> int:
    return sum(len(region.operands) + len(region.results) for region in checks.regions(module))


def has_equal_bits(one: Quantized) -> Counter[str]:
    checks.same_bits(one.text, one.target, one.inputs)
    return Counter(executed=1)


def simulates(one: Quantized) -> Counter[str]:
    """Each region alone, fed the same codes, is within one code of what is simulated."""
    rng = np.random.default_rng(len(one.text))
    found = Counter[str]()
    for region in checks.regions(ir.parse(one.text, "f.mlir")):
        apart = checks.codes_apart(region, one.target, rng)
        assert apart <= 1, f"{apart} codes apart: {region}"
        found[f"regions {apart} codes apart"] += 1
    return found


def obeys_its_causes(one: Quantized) -> Counter[str]:
    """A rescale that names an annotation is gone when the annotation is made."""
    found = Counter[str]()
    for cause in checks.causes(ir.parse(one.text, "f.mlir")):
        if not cause.annotated:
            found["rescales that no annotation removes"] += 1
            continue
        again = checks.causes(one.propagated(cause=cause)[0])
        assert (cause.source, cause.taker) not in {(each.source, each.taker) for each in again}, cause
        found["rescales that an annotation removes"] += 1
    return found


CHECKS = (
    computes_as_float,
    is_within_the_bound,
    ignores_the_order,
    has_no_violation,
    has_equal_bits,
    simulates,
    obeys_its_causes,
)


def digest(count: int, seed: str) -> str:
    """Of the texts of all, which a process with other hashes must give too."""
    return hashlib.sha256("".join(one.text for one in drawn(count, seed)).encode()).hexdigest()


def digest_elsewhere(count: int, seed: str, hash_seed: int) -> str:
    """The digest that another process finds."""
    command = [sys.executable, "-m", MODULE, "--digest", f"--count={count}", f"--seed={seed}"]
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--digest", action="store_true", help="only print a digest of the propagated texts")
    given = parser.parse_args()
    if given.digest:
        print(digest(given.count, given.seed))
        return 0
    counts, broken = Counter[str](), 0
    for one in drawn(given.count, given.seed):
        if one.refused:
            counts["refused"] += 1
            print(f"{one.seed} {one.target}: refused: {one.refused}")
            continue
        counts["quantized"] += 1
        for check in CHECKS:
            try:
                counts += check(one)
            except Exception:
                broken += 1
                print(f"{one.seed} {one.target}: {check.__name__}\n{traceback.format_exc(limit=-3)}")
    hashes = {digest_elsewhere(given.count, given.seed, hash_seed) for hash_seed in (0, 1, 12345)}
    print(f"{len(hashes)} digest of the texts under 3 seeds of hashes")
    for name, count in counts.items():
        print(f"{count:8} {name}")
    print(f"{broken:8} checks that do not hold")
    return int(broken > 0 or len(hashes) > 1)


if __name__ == "__main__":
    sys.exit(main())
