"""Many cases in one module: for each a driver that calls its function on the operands and prints the bits of results.

Operands are bits in tables that the driver reads at run time, and every case is a function of its own: nothing is left
to a folder, and the code generator that runs is mlir-runner's.
"""

from collections.abc import Iterator, Sequence

from tests import mlir_runner
from tests.oracle.execution.case import Case
from tests.oracle.execution.values import Type, Value, dense, is_float, width

_HEADER = """func.func private @printI64(i64)
func.func private @printNewline()
func.func private @show(%x: i64) {
  call @printI64(%x) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
"""
Outcome = list[list[Value]] | str
"""The results of each call, or why the case does not run."""


def execute(cases: Sequence[Case]) -> list[Outcome]:
    """The outcome of each case: many in one process."""
    outcomes: list[Outcome] = [""] * len(cases)
    for path in mlir_runner.PATHS:
        places = [i for i, case in enumerate(cases) if case.calls and case.path == path]
        for place, outcome in zip(places, _execute([cases[i] for i in places], path), strict=True):
            outcomes[place] = outcome
    return outcomes


def _execute(cases: list[Case], path: str) -> list[Outcome]:
    """One process for all of them; a case that does not run is found by halving."""
    if not cases:
        return []
    text = _HEADER + "".join(case.renamed(i) + _driver(case, i) for i, case in enumerate(cases))
    calls = "".join(f"  call @drive{i}() : () -> ()\n" for i in range(len(cases)))
    printed, error = mlir_runner.execute(f"{text}func.func @main() {{\n{calls}  return\n}}\n", path)
    if error and len(cases) == 1:
        return [error]
    if error:
        half = len(cases) // 2
        return _execute(cases[:half], path) + _execute(cases[half:], path)
    numbers = iter(printed)
    outcomes: list[Outcome] = [[[_read(numbers, t) for t in _shown(case)] for _ in case.calls] for case in cases]
    assert next(numbers, None) is None, "the drivers print what is read, no more"
    return outcomes


def _shown(case: Case) -> list[Type]:
    """What is printed of a call: its results, and the memrefs it may have written."""
    inputs, results = case.signature
    return [*results, *(t for t in inputs if t.container == "memref")]


def _read(numbers: Iterator[int], t: Type) -> Value:
    shape = tuple(next(numbers) for _ in t.shape)
    count = 1
    for dim in shape:
        count *= dim
    return Value(t.element, shape, tuple(next(numbers) & (1 << width(t.element)) - 1 for _ in range(count)))


def _driver(case: Case, number: int) -> str:
    writer = _Writer()
    inputs, results = case.signature
    if all(not t.container for t in inputs):
        _loop(writer, case, number, inputs, results)
    else:
        for call in case.calls:
            operands = [_constant(writer, t, value) for t, value in zip(inputs, call, strict=True)]
            _call(writer, number, operands, inputs, results)
    return (
        f"func.func private @drive{number}() {{\n" + "".join(f"  {line}\n" for line in writer.lines) + "  return\n}\n"
    )


class _Writer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def value(self, text: str) -> str:
        """The name of what an op gives."""
        self.count += 1
        self.lines.append(f"%{self.count} = {text}")
        return f"%{self.count}"

    def loop(self, count: str) -> str:
        """Opens a loop from 0 to a count."""
        zero, one = self.value("arith.constant 0 : index"), self.value("arith.constant 1 : index")
        self.count += 1
        self.lines.append(f"scf.for %{self.count} = {zero} to {count} step {one} {{")
        return f"%{self.count}"


def _loop(writer: _Writer, case: Case, number: int, inputs: list[Type], results: list[Type]) -> None:
    """Over the calls of a function of scalars."""
    tables = []
    for position in range(len(inputs)):
        column = [call[position].numbers()[0] for call in case.calls]
        tables.append(writer.value(f"arith.constant dense<{column}> : tensor<{len(column)}xi64>"))
    place = writer.loop(writer.value(f"arith.constant {len(case.calls)} : index"))
    operands = []
    for table, t in zip(tables, inputs, strict=True):
        bits = writer.value(f"tensor.extract {table}[{place}] : tensor<{len(case.calls)}xi64>")
        operands.append(_decoded(writer, bits, t.element))
    _call(writer, number, operands, inputs, results)
    writer.lines.append("}")


def _call(writer: _Writer, number: int, operands: list[str], inputs: list[Type], results: list[Type]) -> None:
    types = f"({', '.join(t.text for t in inputs)}) -> ({', '.join(t.text for t in results)})"
    call = f"func.call @f{number}_({', '.join(operands)}) : {types}"
    names: list[str] = []
    if results:
        name = writer.value(call) if len(results) == 1 else _several(writer, call, len(results))
        names = [name] if len(results) == 1 else [f"{name}#{i}" for i in range(len(results))]
    else:
        writer.lines.append(call)
    for name, t in zip(names, results, strict=True):
        _show(writer, name, t)
    for name, t in zip(operands, inputs, strict=True):
        if t.container == "memref":
            _show(writer, name, t)


def _several(writer: _Writer, call: str, count: int) -> str:
    writer.count += 1
    writer.lines.append(f"%{writer.count}:{count} = {call}")
    return f"%{writer.count}"


def _constant(writer: _Writer, t: Type, value: Value) -> str:
    if not t.container:
        return _decoded(writer, writer.value(f"arith.constant {value.numbers()[0]} : i64"), t.element)
    if value.shape and value.bits:
        static = f"tensor<{''.join(f'{dim}x' for dim in value.shape)}{t.element}>"
        made = _elements(writer, value)
    elif value.bits:
        static = f"tensor<{t.element}>"
        bits = writer.value(f"arith.constant {value.numbers()[0]} : i64")
        made = writer.value(f"tensor.from_elements {_decoded(writer, bits, t.element)} : {static}")
    else:
        static = f"tensor<{''.join(f'{dim}x' for dim in value.shape)}{t.element}>"
        made = writer.value(f"tensor.empty() : {static}")
    if t.container == "tensor":
        return made if t.text == static else writer.value(f"tensor.cast {made} : {static} to {t.text}")
    return _buffer(writer, made, static, t)


def _elements(writer: _Writer, value: Value) -> str:
    """A tensor of given elements. LLVM does not lay out constants of odd widths as it loads them: those are stored one
    by one."""
    if is_float(value.element) or value.element in ("i8", "i16", "i32", "i64", "index"):
        return writer.value(f"arith.constant {dense(value)}")
    dims = "".join(f"{dim}x" for dim in value.shape)
    wide = writer.value(f"arith.constant {dense(Value('i64', value.shape, value.bits))}")
    places = [f"%at{axis}" for axis in range(len(value.shape))]
    made = writer.value("tensor.generate {")
    writer.lines.append(f"^bb0({', '.join(f'{place}: index' for place in places)}):")
    bits = writer.value(f"tensor.extract {wide}[{', '.join(places)}] : tensor<{dims}i64>")
    writer.lines.append(f"tensor.yield {_decoded(writer, bits, value.element)} : {value.element}")
    writer.lines.append(f"}} : tensor<{dims}{value.element}>")
    return made


def _buffer(writer: _Writer, made: str, static: str, t: Type) -> str:
    """A memref of the driver's own with a tensor's elements."""
    plain = static.replace("tensor", "memref", 1)
    buffer = writer.value(f"memref.alloc() : {plain}")
    writer.lines.append(
        f"bufferization.materialize_in_destination {made} in restrict writable {buffer} : ({static}, {plain}) -> ()"
    )
    return buffer if t.text == plain else writer.value(f"memref.cast {buffer} : {plain} to {t.text}")


def _show(writer: _Writer, name: str, t: Type) -> None:
    """Prints the dimensions of a value, then its elements' bits."""
    if not t.container:
        writer.lines.append(f"func.call @show({_encoded(writer, name, t.element)}) : (i64) -> ()")
        return
    dims = []
    for axis in range(len(t.shape)):
        index = writer.value(f"arith.constant {axis} : index")
        dims.append(writer.value(f"{t.container}.dim {name}, {index} : {t.text}"))
        shown = writer.value(f"arith.index_cast {dims[-1]} : index to i64")
        writer.lines.append(f"func.call @show({shown}) : (i64) -> ()")
    places = ", ".join([writer.loop(dim) for dim in dims])
    access = "tensor.extract" if t.container == "tensor" else "memref.load"
    element = writer.value(f"{access} {name}[{places}] : {t.text}")
    writer.lines.append(f"func.call @show({_encoded(writer, element, t.element)}) : (i64) -> ()")
    writer.lines += ["}"] * len(dims)


def _decoded(writer: _Writer, bits: str, element: str) -> str:
    """A value of bits in an i64."""
    size = width(element)
    if element == "index":
        return writer.value(f"arith.index_cast {bits} : i64 to index")
    cut = bits if size == 64 else writer.value(f"arith.trunci {bits} : i64 to i{size}")
    return writer.value(f"arith.bitcast {cut} : i{size} to {element}") if is_float(element) else cut


def _encoded(writer: _Writer, name: str, element: str) -> str:
    size = width(element)
    if element == "index":
        return writer.value(f"arith.index_cast {name} : index to i64")
    bits = writer.value(f"arith.bitcast {name} : {element} to i{size}") if is_float(element) else name
    return bits if size == 64 else writer.value(f"arith.extui {bits} : i{size} to i64")
