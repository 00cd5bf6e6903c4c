"""Text: parsed, verified, printed, parsed again; then through passes, and again. A first line may say which passes."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from random import Random

from qrt import ir
from qrt.errors import QuantError, UndefinedError
from qrt.ir import ArrayAttr, Module, Value
from qrt.ir.core.affine import AffineMapAttr, Expression, IntegerSetAttr, evaluate
from qrt.ir.pipeline import PASSES
from qrt.ir.pipeline_text import parse_pipeline
from tests.fuzz import seeds
from tests.fuzz.mutate import mutated
from tests.fuzz.outcome import Finding, check_message

_HEADER = re.compile(r"// pipeline: (.*)")
_OPTIONS = {
    "lower-qrt": ("", "{to=loops}", "{zero-point=in-loop to=loops}", "{zero-point=auto}", "{requant=float32}"),
    "lower-quant-ops": ("", "{rounding=half_away}", "{saturating=false rounding=toward_zero}", "{zero-point=after}"),
    "canonicalize": ("", "", "{fold-constants=false}", "{fold-qcast-dcast fold-dcast-qcast}"),
    "constant-fold": ("", "{max-elements=64}"),
    "fold-plan-constants": ("", "{observed}", "{entry=main saturating}", "{entry=f}"),
    "inline": ("", "", "{canonicalize=false remove-unused=false}", "{entry=main}", "{entry=f canonicalize=false}"),
    "inline-regions": ("", "{observed}"),
    "export-quant": ("", "{to=codegen}", "{to=simulate}"),
}
_UNKNOWN = re.compile(r"'[^']*' op is unregistered and has a region, so it may be a symbol table")
"""How symbol-dce refuses an unregistered op with a region, as mlir-opt does."""
_VALUES = [[(n * (i + 3)) % 97 - sign for i in range(89)] for n, sign in ((5, 0), (11, 40), (23, 96))]
"""What the values of a module are, when affine expressions are compared."""
_Placed = tuple[Expression, Sequence[int], int]
"""An expression, numbers of the values that its dimensions and symbols are, and how many of them are dimensions."""
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
    except QuantError as error:
        check_message(error)
        return "verified"
    for step in steps:
        name = next(name for name, kind in PASSES.items() if kind is type(step))
        try:
            step.run(module)
        except QuantError as error:
            check_message(error)
            if name in ALWAYS and not _UNKNOWN.search(str(error)):
                raise Finding(f"{name} refuses: {_general(error)}", str(error)) from error
            return "not transformed"
        try:
            module.verify()
        except QuantError as error:
            raise Finding(f"{name} breaks a rule: {_general(error)}", str(error)) from error
        read_again(module, f"after {name}")
    return "transformed"


def read_again(module: Module, when: str) -> None:
    """What is printed is read, and printed as it was. Sums of affine maps are read from the left, and then simplified,
    as upstream does: one that nests to the right may be printed otherwise once, but its values stay."""
    for form in ({}, {"generic": True}, {"locations": True}):
        told = f"{when}, {next(iter(form), 'custom')}"
        if any(map(nests_right, expressions(module))):
            settled = _read(module.print(**form), told)
            if not agree(module, settled):
                raise Finding(f"{told}: is an affine map of other values once read", module.print()[:2000])
            module = settled
        printed = module.print(**form)
        again = _read(printed, told)
        twice = again.print(**form)
        if twice != printed:
            raise Finding(f"{told}: prints otherwise once read", _first_difference(printed, twice))
    exact = module.print(generic=True, exact=True)  # storage of known sign is printed as if it had none otherwise
    if _read(exact, f"{when}, exact") != module:
        raise Finding(f"{when}, exact: is another program once read", exact[:2000])


def _read(printed: str, told: str) -> Module:
    try:
        again = ir.parse(printed, allow_unregistered=True)
        again.verify()
    except QuantError as error:
        raise Finding(f"{told}: does not parse again: {_general(error)}", f"{error}\n{printed[:2000]}") from error
    return again


def expressions(module: Module) -> list[Expression]:
    """The expressions of the affine maps and sets that are attributes, in order."""
    return [placed[0] for placed in _placed(module)]


def _placed(module: Module) -> Iterator[_Placed]:
    """Expressions, and which value each dimension and symbol is. Subscripts name those that they use alone: once they
    are read, a dimension may stand at another place, and the operand tells which it is."""
    numbers: dict[Value, int] = {}
    for operation in module.operation.walk():
        arguments = [value for region in operation.regions for block in region.blocks for value in block.arguments]
        for value in (*arguments, *operation.results):
            numbers.setdefault(value, len(numbers))
        stack = [operation.attributes[name] for name in sorted(operation.attributes)]
        while stack:
            attribute = stack.pop()
            if isinstance(attribute, ArrayAttr):
                stack.extend(attribute.elements)
            elif isinstance(attribute, AffineMapAttr):
                inputs = range(attribute.dimensions + attribute.symbols)
                if attribute is operation.attributes.get("map") and len(inputs) <= len(operation.operands):
                    given = operation.operands[len(operation.operands) - len(inputs) :]
                    inputs = [numbers.get(value, -1) for value in given]
                yield from ((result, inputs, attribute.dimensions) for result in attribute.results)
            elif isinstance(attribute, IntegerSetAttr):
                inputs = range(attribute.dimensions + attribute.symbols)
                yield from ((expression, inputs, attribute.dimensions) for expression, _ in attribute.constraints)


def nests_right(value: Expression) -> bool:
    """Whether a sum stands to the right of a sum anywhere in it: its text does not say so."""
    if isinstance(value, int) or value[0] in ("d", "s"):
        return False
    operator, left, right = value
    is_sum = operator == "+" and isinstance(right, tuple) and right[0] == "+"
    return is_sum or nests_right(left) or nests_right(right)


def agree(first: Module, second: Module) -> bool:
    """Whether the affine expressions of two modules are as many, and equal wherever they are evaluated here."""
    pairs = list(zip_longest(_placed(first), _placed(second)))
    return all(None not in pair and all(_equal_at(*pair, values) for values in _VALUES) for pair in pairs)


def _equal_at(first: _Placed, second: _Placed, values: Sequence[int]) -> bool:
    try:
        return _evaluated(*first, values) == _evaluated(*second, values)
    except UndefinedError:  # a division by zero may be simplified away
        return True


def _evaluated(expression: Expression, inputs: Sequence[int], dimensions: int, values: Sequence[int]) -> int:
    given = [values[number % len(values)] for number in inputs]
    return evaluate(expression, given[:dimensions], given[dimensions:])


def _general(error: QuantError) -> str:
    """The message without what differs from program to program."""
    message = getattr(error, "message", None) or str(error).splitlines()[0]
    return re.sub(r"-?\d+|(?:tensor|memref|vector)<[^']*>", "N", str(message))[:120]


def _first_difference(first: str, second: str) -> str:
    lines = zip(first.splitlines(), second.splitlines(), strict=False)
    return next((f"{a}\n{b}" for a, b in lines if a != b), "one is longer")
