"""Draws float programs whose operations stand in regions, quantizes them, and checks all that must hold of each:

    python -m tests.quantization.random_graphs --count 1000 [--seed 1]

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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import qrt
from qrt import ir
from qrt.errors import QuantError
from qrt.ir import Module
from qrt.quantization.annotations.convert_fake_quant import ConvertFakeQuant
from qrt.quantization.annotations.convert_stats import ConvertStats
from qrt.quantization.propagation.functions import separate
from qrt.quantization.propagation.graph import build
from qrt.quantization.propagation.propagate_quant import Outcome, Settings, propagate
from qrt.quantization.targets.registry import find
from qrt.quantization.verification.check_quant import broken_annotations, violations
from tests.docs.documents import ROOT
from tests.ops.harness import Array
from tests.quantization import checks
from tests.quantization.draw_graph import Graph, draw_graph

MOST = 10
"""Steps of a program, of which some are several regions."""
TARGETS = ("qrt-cpu", "qrt-cpu", "tflite", "int16x8")
MODULE = "tests.quantization.random_graphs"


@dataclass
class Quantized:
    """A drawn program before and after propagation. What the target refuses is an error with a place, in `refused`."""

    seed: str
    target: str
    most: int = MOST

    @cached_property
    def graph(self) -> Graph:
        return draw_graph(self.seed, self.target, self.most)

    @cached_property
    def inputs(self) -> list[Array]:
        return self.graph.draw(self._number)

    @cached_property
    def _number(self) -> int:
        return int(hashlib.sha256(self.seed.encode()).hexdigest()[:8], 16)

    @cached_property
    def settings(self) -> Settings:
        return Settings(functions="duplicate" if self._number % 4 == 0 else "inline")

    @cached_property
    def _parsed(self) -> Module:
        return ir.parse(self.graph.text, "f.mlir")

    def annotated(self) -> Module:
        """A copy of the program before propagation, its annotations in the specifications of regions."""
        module = checks.copied(self._parsed)
        ConvertStats().run(module)
        ConvertFakeQuant().run(module)
        return module

    def propagate(self, module: Module, order: Sequence[int] | None = None) -> Outcome:
        outcome = propagate(module, find(self.target), self.settings, order=order)
        module.verify()
        return outcome

    @cached_property
    def _propagated(self) -> tuple[Module | str, Outcome | None]:
        module = self.annotated()
        try:
            return module, self.propagate(module)
        except QuantError as error:
            if "f.mlir:" not in str(error):
                raise  # an error without a place
            return str(error), None

    @property
    def module(self) -> Module:
        """The propagated program."""
        assert isinstance(self._propagated[0], Module)
        return self._propagated[0]

    @cached_property
    def text(self) -> str:
        return str(self._propagated[0])

    @property
    def outcome(self) -> Outcome:
        assert self._propagated[1] is not None
        return self._propagated[1]

    @property
    def refused(self) -> str:
        return self.text if self._propagated[1] is None else ""


def drawn(count: int, seed: str, most: int = MOST) -> Iterator[Quantized]:
    return (Quantized(f"{seed}/{n}", TARGETS[n % len(TARGETS)], most) for n in range(count))


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
    module = one.annotated()
    separate(module, one.settings.functions)
    numbers = list(range(len(build(module).regions)))
    random.Random(one.seed).shuffle(numbers)
    again = one.annotated()
    one.propagate(again, numbers)
    assert str(again) == one.text, f"another result in the order {numbers}"
    return Counter(orders=1)


def has_no_violation(one: Quantized) -> Counter[str]:
    """`check-quant` finds none, and what annotations ask for is there."""
    assert [str(each) for each in violations(one.module, find(one.target))] == []
    assert [str(each) for each in broken_annotations(one.annotated(), one.module)] == []
    regions = checks.regions(one.module)
    return Counter(regions=len(regions), ports=sum(len(each.operands) + len(each.results) for each in regions))


def has_equal_bits(one: Quantized) -> Counter[str]:
    checks.same_bits(one.module, one.target, one.inputs)
    return Counter(executed=1)


def simulates(one: Quantized) -> Counter[str]:
    """Each region alone, fed the same codes, is within one code of what is simulated."""
    found = Counter[str]()
    for region, apart in checks.codes_apart(one.module, one.target, np.random.default_rng(one.inputs[0].size)):
        assert apart <= 1, f"{apart} codes apart: {region}"
        found[f"regions {apart} codes apart"] += 1
    return found


def obeys_its_causes(one: Quantized) -> Counter[str]:
    """A rescale that names an annotation is gone when the annotation is made."""
    found = Counter[str]()
    for cause in checks.causes(one.module):
        if not cause.annotated:
            found["rescales that no annotation removes"] += 1
            continue
        again = checks.annotated(one.annotated(), cause)
        one.propagate(again)
        assert (cause.source, cause.taker) not in {(each.source, each.taker) for each in checks.causes(again)}, cause
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


def digest(every: Iterable[Quantized]) -> str:
    """Of the texts of all, which a process with other hashes must give too."""
    return hashlib.sha256("".join(one.text for one in every).encode()).hexdigest()


def digest_elsewhere(count: int, seed: str, most: int, hash_seed: int) -> str:
    """The digest that another process finds."""
    command = [sys.executable, "-m", MODULE, "--digest", f"--count={count}", f"--seed={seed}", f"--most={most}"]
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--most", type=int, default=MOST, help="steps of a program")
    parser.add_argument("--digest", action="store_true", help="only print a digest of the propagated texts")
    given = parser.parse_args()
    if given.digest:
        print(digest(drawn(given.count, given.seed, given.most)))
        return 0
    counts, broken = Counter[str](), 0
    for one in drawn(given.count, given.seed, given.most):
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
    hashes = {digest_elsewhere(given.count, given.seed, given.most, hash_seed) for hash_seed in (0, 1, 12345)}
    print(f"{len(hashes)} digest of the texts under 3 seeds of hashes")
    for name, count in counts.items():
        print(f"{count:8} {name}")
    print(f"{broken:8} checks that do not hold")
    return int(broken > 0 or len(hashes) > 1)


if __name__ == "__main__":
    sys.exit(main())
