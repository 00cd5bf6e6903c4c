"""Text: parsed, verified, printed, parsed again; then through passes, and again. A first line may say which passes."""

import re
from random import Random

from qrt import ir
from qrt.errors import QuantError
from qrt.ir import Module
from qrt.passes import parse_pipeline
from qrt.pipeline import PASSES
from tests.fuzz import seeds
from tests.fuzz.mutate import mutated
from tests.fuzz.outcome import Finding

_HEADER = re.compile(r"// pipeline: (.*)")
_OPTIONS = {
    "lower-qrt": ("", "{to=loops}", "{zero-point=in-loop to=loops}", "{requant=float32}"),
    "lower-quant-ops": ("", "{rounding=half_away}", "{saturating=false rounding=toward_zero}", "{zero-point=after}"),
    "canonicalize": ("", "", "{fold-constants=false}", "{fold-qcast-dcast fold-dcast-qcast}"),
    "constant-fold": ("", "{max-elements=64}"),
}
ALWAYS = ("canonicalize", "cse", "dce", "symbol-dce", "loop-invariant-code-motion")
"""Passes that take every program that verifies. The others say what they do not transform."""


def draw(draw: Random) -> str:
    text = draw.choice(seeds.texts() if draw.random() < 0.9 else seeds.refused())
    return f"// pipeline: {pipeline(draw)}\n" + mutated(draw, text, seeds.texts())


def pipeline(draw: Random) -> str:
    """One to three passes: more often than not canonicalize is one."""
    names = [draw.choice([*sorted(PASSES), "canonicalize", "inline"]) for _ in range(draw.choice((1, 1, 2, 3)))]
    if draw.random() < 0.3:
        names[0] = "canonicalize"
    return ",".join(name + draw.choice(_OPTIONS.get(name, ("",))) for name in names)


def check(case: str) -> str:
    module = ir.parse(case, allow_unregistered=True)
    module.verify()
    read_again(module, "as parsed")
    said = _HEADER.search(case)
    try:
        steps = parse_pipeline(said[1] if said else "canonicalize", PASSES)
    except QuantError:
        return "verified"
    for step in steps:
        name = next(name for name, kind in PASSES.items() if kind is type(step))
        try:
            step.run(module)
        except QuantError as error:
            if name in ALWAYS:
                raise Finding(f"{name} refuses: {_general(error)}", str(error)) from error
            return "not transformed"
        try:
            module.verify()
        except QuantError as error:
            raise Finding(f"{name} breaks a rule: {_general(error)}", str(error)) from error
        read_again(module, f"after {name}")
    return "transformed"


def read_again(module: Module, when: str) -> None:
    """What is printed is read, and printed as it was."""
    for form in ({}, {"generic": True}, {"locations": True}):
        told = f"{when}, {next(iter(form), 'custom')}"
        printed = module.print(**form)
        try:
            again = ir.parse(printed, allow_unregistered=True)
            again.verify()
        except QuantError as error:
            raise Finding(f"{told}: does not parse again: {_general(error)}", f"{error}\n{printed[:2000]}") from error
        twice = again.print(**form)
        if twice != printed:
            raise Finding(f"{told}: prints otherwise once read", _first_difference(printed, twice))
        if form.get("generic") and again != module:
            raise Finding(f"{told}: is another program once read", printed[:2000])


def _general(error: QuantError) -> str:
    """The message without what differs from program to program."""
    message = getattr(error, "message", None) or str(error).splitlines()[0]
    return re.sub(r"-?\d+|(?:tensor|memref|vector)<[^']*>", "N", str(message))[:120]


def _first_difference(first: str, second: str) -> str:
    lines = zip(first.splitlines(), second.splitlines(), strict=False)
    return next((f"{a}\n{b}" for a, b in lines if a != b), "one is longer")
