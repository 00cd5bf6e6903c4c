"""Programs to sweep: every function of the files that passes and dialects are tested with, each with what it names, and
programs drawn at random. What a file leaves to other code is a function that writes what it is given to a global."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from dataclasses import replace as replace_fields
from functools import partial
from pathlib import Path

from qrt import ir
from qrt.ir import Builder, Operation
from qrt.ir.core.attributes import SymbolRefAttr
from qrt.ir.core.symbols import references
from qrt.ir.rewriting.rewrite import replace
from qrt.types import FloatType, IndexType, IntegerType, Type
from tests.ir.passes import arith_folds, arith_patterns
from tests.ir.passes.values.casts import chain
from tests.ir.passes.values.elementwise import elementwise
from tests.ir.passes.values.runs import SEEN
from tests.oracle import draw_affine, draw_buffers, draw_carried, draw_regions, draw_tensors, draw_vectors
from tests.oracle.draw_types import Draw
from tests.oracle.execution import draw_control, draw_expressions, draw_memory
from tests.oracle.execution import draw_tensors as executed_tensors
from tests.oracle.execution import draw_vectors as executed_vectors

TESTS = Path(__file__).parents[2]
_FOLDERS = (TESTS / "passes" / "files", TESTS / "passes" / "values", TESTS / "ir")
_REFUSED = ("invalid", "broken", "verdicts")


@dataclass(frozen=True)
class Program:
    """A function of a text. `calls` are arguments it is known to take; others are drawn."""

    source: str
    text: str
    name: str = "f"
    calls: list[list] = field(default_factory=list)
    takes_every_pass: bool = False
    """Whether all passes are tried on it, not only canonicalize and one that is drawn."""
    is_told: bool = False
    """Whether it expects the numbers of `draw_numbers`."""


def written() -> Iterator[Program]:
    """The functions of files, and of the tables of arith."""
    for folder in _FOLDERS:
        for path in sorted(folder.glob("*.mlir")):
            if ".expected" not in path.name and not path.name.startswith(_REFUSED):
                every = folder.name == "values"
                for program in functions(f"{folder.name}/{path.name}", path.read_text()):
                    yield replace_fields(program, takes_every_pass=every)
    for table in (arith_folds.CASES, arith_patterns.CASES, arith_patterns.OURS):
        for name, case in table.items():
            yield Program(f"arith: {name}", arith_folds.program(*case))


def functions(source: str, text: str) -> Iterator[Program]:
    """Each function of a text that runs, with what it names."""
    module = ir.parse(text, source, allow_unregistered=True)
    module.verify()
    _call_what_is_unknown(module)
    symbols = {
        name.python: each for each in module.operation.regions[0].blocks[0] if (name := each.attributes.get("sym_name"))
    }
    texts = {name: _defined(each) for name, each in symbols.items()}
    for name, function in symbols.items():
        if function.name == "func.func" and function.regions[0].blocks:
            function.attributes.pop("sym_visibility", None)  # else a pass may remove it
            named = [texts[each] for each in _named(symbols, name) if each != name]
            if None not in named and all(each.definition is not None for each in function.walk()):
                used = [str(each) for each in (*named, function)]
                yield Program(
                    f"{source} @{name}", _SEEN * any(f"@{SEEN}" in each for each in used) + "\n".join(used), name
                )


def _call_what_is_unknown(module: ir.Module) -> None:
    """Unregistered operations become calls of functions that are declared."""
    declared = ""
    for number, operation in enumerate(list(module.operation.walk())):
        if operation.definition is None and not operation.regions and not operation.successors:
            given, made = ([value.type for value in values] for values in (operation.operands, operation.results))
            callee = {"callee": SymbolRefAttr((f"unknown{number}",))}
            replace(operation, Builder(operation).emit("func.call", operation.operands, made, callee).results)
            declared += f"func.func private @unknown{number}({_listed(given)}) -> ({_listed(made)})\n"
    for function in ir.parse(declared).functions:
        module.operation.regions[0].blocks[0].append(function.detach())


def _listed(types: Iterable[Type]) -> str:
    return ", ".join(map(str, types))


def _named(symbols: dict[str, Operation], name: str) -> list[str]:
    """What a symbol names, and what that names, with itself."""
    found: dict[str, None] = {}
    pending = [name]
    while pending:
        one = pending.pop()
        if one in symbols and one not in found:
            found[one] = None
            pending += [reference.path[0] for each in symbols[one].walk() for reference in references(each)]
    return list(found)


_SEEN = f'memref.global "private" @{SEEN} : memref<i64> = dense<0>\n'


def _defined(symbol: Operation) -> str | None:
    """The text of a symbol; of a function that is only declared, one that mixes its scalars into a global, and returns
    bits of that. None where there is none, or it does not run."""
    if symbol.name != "func.func" or symbol.regions[0].blocks:
        return str(symbol) if all(each.definition is not None for each in symbol.walk()) else None
    type = symbol.attributes["function_type"].python
    if not all(isinstance(each, IntegerType | FloatType | IndexType) for each in type.results):
        return None
    lines = [
        f"%m = memref.get_global @{SEEN} : memref<i64>",
        "%s = memref.load %m[] : memref<i64>",
        "%k = arith.constant 6364136223846793005 : i64",
        "%e = arith.constant 1442695040888963407 : i64",
    ]
    last = "%s"
    for place, given in enumerate(type.inputs):
        wide = _to_i64(f"%a{place}", given, f"%w{place}")
        if wide:
            lines += [*wide, f"%x{place} = arith.addi {last}, %w{place} : i64"]
            last = f"%s{place}"
            lines.append(f"{last} = arith.muli %x{place}, %k : i64")
    lines += [f"%p = arith.muli {last}, %k : i64", "%n = arith.addi %p, %e : i64"]
    lines += ["memref.store %n, %m[] : memref<i64>", "%c = arith.constant 33 : i64", "%h = arith.shrui %n, %c : i64"]
    lines += [f"%r{place} = {_from_i64('%h', made)}" for place, made in enumerate(type.results)]
    names = ", ".join(f"%r{place}" for place in range(len(type.results)))
    lines.append(f"return {names} : {_listed(type.results)}" if names else "return")
    head = ", ".join(f"%a{place}: {given}" for place, given in enumerate(type.inputs))
    body = "\n".join(lines)
    return (
        f"func.func private @{symbol.attributes['sym_name'].python}({head}) -> ({_listed(type.results)}) {{\n{body}\n}}"
    )


def _to_i64(name: str, type: Type, made: str) -> list[str]:
    if isinstance(type, IndexType):
        return [f"{made} = arith.index_cast {name} : index to i64"]
    if isinstance(type, IntegerType) and type.is_signless:
        if type.width == 64:
            return [f"{made}z = arith.constant 0 : i64", f"{made} = arith.addi {name}, {made}z : i64"]
        return [f"{made} = arith.{'extui' if type.width < 64 else 'trunci'} {name} : {type} to i64"]
    if isinstance(type, FloatType) and type.width in (16, 32):
        integer = f"i{type.width}"
        return [
            f"{made}b = arith.bitcast {name} : {type} to {integer}",
            f"{made} = arith.extui {made}b : {integer} to i64",
        ]
    return []


def _from_i64(name: str, type: Type) -> str:
    if isinstance(type, IndexType):
        return f"arith.index_cast {name} : i64 to index"
    if isinstance(type, FloatType):
        return f"arith.uitofp {name} : i64 to {type}"
    return (
        f"arith.{'trunci' if type.width < 64 else 'extui'} {name} : i64 to {type}"
        if type.width != 64
        else f"arith.addi {name}, {name} : i64"
    )


# -- drawn -------------------------------------------------------------------------------------------------------------


def _text(kind, draw: Draw) -> Program:
    text = kind(draw)
    return Program(kind.__name__, text, is_told="%n24" in text)


def _case(kind, draw: Draw) -> Program:
    (case,) = kind(draw, 1)
    return Program(
        f"executed {kind.__name__}", case.text, calls=[[value.array()[()] for value in call] for call in case.calls]
    )


_KINDS = (
    partial(_text, chain),
    *[partial(_text, elementwise)] * 3,
    partial(_text, draw_affine.affine_nests),
    partial(_text, draw_buffers.buffers),
    partial(_text, draw_carried.carrying),
    partial(_text, draw_regions.branching),
    partial(_text, draw_regions.structured),
    partial(_text, draw_tensors.tensors),
    partial(_text, draw_vectors.vectors),
    partial(_case, draw_control.control),
    partial(_case, draw_expressions.expressions),
    partial(_case, draw_memory.memory),
    partial(_case, executed_tensors.tensors),
    partial(_case, executed_vectors.vectors),
)


_TOTAL = re.compile(r"arith\.(?:addi|subi|muli|xori)(?![^\n]*overflow)(?= [^\n]* : (?:i\d+|index)\n)")
_PARTIAL = ("divsi", "divui", "remsi", "remui", "ceildivsi", "floordivsi", "shli", "shrsi", "shrui")


def partial_ops(program: Program, draw: Draw) -> Program:
    """The program with ops that are an error for some operands, which no pass may run where they did not run."""
    text = _TOTAL.sub(lambda match: f"arith.{draw.choice(_PARTIAL)}" if draw.chance(0.4) else match[0], program.text)
    return replace_fields(program, text=text, source=f"errors in {program.source}")


def drawn(draw: Draw) -> Iterator[Program]:
    """Programs without end: of each kind in turn."""
    while True:
        for kind in _KINDS:
            program = kind(draw)
            yield partial_ops(program, draw) if draw.chance(0.3) else program
