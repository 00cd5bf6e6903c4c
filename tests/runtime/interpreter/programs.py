"""Small programs around one op, and running them."""

from qrt import ir
from qrt.runtime.interpreter import Interpreter


def call(text, *arguments):
    """The results of the function @f."""
    module = ir.parse(text)
    module.verify()
    return Interpreter(module).call(module.function("f"), arguments)


def program(line, types, results=()):
    """@f of %a, %b, ... of these types; it returns %r, or %r#0, %r#1, ..., as the line defines them."""
    arguments = ", ".join(f"%{chr(97 + i)}: {type}" for i, type in enumerate(types))
    returned = ["%r"] if len(results) == 1 else [f"%r#{i}" for i in range(len(results))]
    values = f"{', '.join(returned)} : {', '.join(results)}" if results else ""
    return f"func.func @f({arguments}) -> ({', '.join(results)}) {{\n{line}\nreturn {values}\n}}"


def generic(maps, iterators, body, inputs, outputs, kind="tensor"):
    """A `linalg.generic` on operands given as `(rank, element)`, or as an element for a scalar. The body names the
    inputs' elements %x0, %x1, ... and the outputs' %y0, ..."""
    types = [each if isinstance(each, str) else f"{kind}<{'?x' * each[0]}{each[1]}>" for each in (*inputs, *outputs)]
    names = [f"%{chr(97 + i)}" for i in range(len(types))]
    count = len(inputs)
    groups = [("ins", names[:count], types[:count]), ("outs", names[count:], types[count:])]
    operands = " ".join(f"{word}({', '.join(n)} : {', '.join(t)})" for word, n, t in groups if n)
    block = [f"%x{i}: {each if isinstance(each, str) else each[1]}" for i, each in enumerate(inputs)]
    block += [f"%y{i}: {element}" for i, (_, element) in enumerate(outputs)]
    results = types[count:] if kind == "tensor" else []
    kinds = ", ".join({"p": '"parallel"', "r": '"reduction"'}[letter] for letter in iterators)
    line = (
        f"linalg.generic {{indexing_maps = [{', '.join(f'affine_map<{each}>' for each in maps)}], "
        f"iterator_types = [{kinds}]}} {operands} {{\n^bb0({', '.join(block)}):\n{body}\n}}"
    )
    if results:
        name = "%r" if len(results) == 1 else f"%r:{len(results)}"
        line = f"{name} = {line} -> ({', '.join(results)})"
    return program(line, types, results)
