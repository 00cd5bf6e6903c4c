"""Coverage-guided fuzzing by atheris, which keeps what reaches new code and changes it further. By hand:

    python -m tests.fuzz.guided [--kind text] [--minutes 10]

In one process, which the first crash of C code ends: what was running then is left in the folder of its findings.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fuzz.kinds import Kind

ROOT = Path(__file__).parent.parent.parent
GUIDED = ("text", "programs", "eager")
"""Kinds whose cases are texts for the mutators. Coverage of Python says little of the others."""


def main(atheris: ModuleType | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided")
    parser.add_argument("--kind", choices=GUIDED, default="text")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=ROOT / "build/fuzz/guided")
    options = parser.parse_args()
    if atheris is None:
        try:
            import atheris  # type: ignore[import-not-found, no-redef]
        except ImportError:
            parser.error("atheris is not installed: python -m pip install --group fuzz")
    assert atheris is not None
    with atheris.instrument_imports(include=["qrt"]):  # before anything else of qrt is imported
        from tests.fuzz import seeds
        from tests.fuzz.kinds import KINDS
    corpus, found = options.output / options.kind / "corpus", options.output / options.kind / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    found.mkdir(parents=True, exist_ok=True)
    kind = KINDS[options.kind]
    started = seeds.corpus("eager") if options.kind == "eager" else seeds.texts()
    for number, text in enumerate(started):
        (corpus / f"seed_{number}").write_bytes(text.encode())
    tell = _Findings(found)
    limits = [
        f"-max_total_time={60 * options.minutes:.0f}",
        "-timeout=600",
        "-rss_limit_mb=4096",
        f"-seed={options.seed}",
    ]
    arguments = [sys.argv[0], str(corpus), f"-artifact_prefix={found}/", "-max_len=20000", *limits]
    atheris.Setup(arguments, one_input(kind, tell), custom_mutator=mutator(started))
    atheris.Fuzz()
    return 0


def mutator(others: tuple[str, ...]) -> Callable[[bytes, int, int], bytes]:
    """This package's mutators, as libFuzzer calls one: (data, largest size, seed)."""
    from tests.fuzz.mutate import mutated

    def mutate(data: bytes, largest: int, seed: int) -> bytes:
        text = mutated(Random(seed), data.decode(errors="replace"), others)
        return text.encode(errors="replace")[:largest]

    return mutate


def one_input(kind: "Kind", tell: Callable[[str, bytes], None]) -> Callable[[bytes], None]:
    """The function that is called with each input: a finding is told, and fuzzing goes on."""
    from tests.fuzz import worker

    worker.SLOWNESS = _SLOWNESS
    worker.limit_memory()

    def run(data: bytes) -> None:
        told, _ = worker.measured(kind, data.decode(errors="replace"))
        if "cause" in told:
            tell(told["cause"], data)

    return run


_SLOWNESS = 5.0
"""Of CPU time: instrumented code takes several times as long."""


class _Findings:
    """One input of each cause, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.seen = folder, set[str]()

    def __call__(self, cause: str, data: bytes) -> None:
        if cause not in self.seen:
            self.seen.add(cause)
            name = "".join(c if c.isalnum() else "_" for c in cause)[:80]
            (self.folder / name).write_bytes(data)
            print(f"FINDING   {cause}\n          {self.folder / name}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
