"""docs/reference/numpy.md: the table of NumPy's functions as a page, which `make expected` writes."""

import inspect
from collections import defaultdict

from qrt.tensor.protocol.methods import ABSENT, Methods
from qrt.tensor.protocol.table import Entry, Function, Kind, name_of, table
from tests.docs.documents import ROOT

PAGE = ROOT / "docs" / "reference" / "numpy.md"
HEAD = """# NumPy's functions on a QuantTensor

`make expected` writes this page from the table by which qrt answers NumPy's functions, ufuncs and their methods.
A function that does not stand here is an error that says so.

A result is exact as quantized values, or it is an error that says what to write instead; within
`qrt.float_results("allow")` such a function gives what NumPy gives for `np.asarray(q)`, the values as floats.
`np.asarray`, `np.array` and whatever converts to an array give these values at any time.

```python
import numpy as np
import qrt

t = qrt.UniformType("i8", "f32", [0.5, 1.0, 2.0], axis=1)
q = qrt.quantize([[0.5, 1.0, 2.0], [1.5, 2.0, 4.0]], t)
print(np.flip(q, axis=1))
q[0] = [2.5, 3.0, -2.0]
print(q[:, [2, 0]])
```

```text
QuantTensor([[2. , 1. , 0.5],
             [4. , 2. , 1.5]], type=!quant.uniform<i8:f32:1, {2.000000e+00,1.000000e+00,5.000000e-01}>)
QuantTensor([[-2. ,  2.5],
             [ 4. ,  1.5]], type=!quant.uniform<i8:f32:1, {2.000000e+00,5.000000e-01}>)
```

## Indexing, assignment, Python

`q[key]` takes what an ndarray takes: integers, slices, `...`, `None`, lists, integer arrays and masks. An integer along
the axis of channels leaves that channel's type per layer; an array leaves a per-axis type of the channels it names.
It is a view where NumPy makes one, but a copy of bits that are packed (widths 1, 2 and 4).

`q[key] = x` writes real numbers, quantized by the default rule, or a QuantTensor of the type that `q[key]` has. Views
write through. What is read-only raises ValueError: a tensor of `qrt.pack`, a broadcast, and a part of packed bits, in
which what is written would be lost.

`len`, iteration, `in`, `bool`, `float`, `int`, `item` and `tolist` are as an ndarray's, and so are the errors: what
NumPy raises as IndexError, ValueError or AxisError is that, and a `QuantTypeError` too.

"""
SECTIONS: dict[Kind, tuple[str, str]] = {
    "moves": (
        "Functions that move elements",
        "The type is kept. A per-axis type follows its axis, and its channels are selected as the elements are;\n"
        "blocks stay whole. Where elements of several scales would stand along one axis, it is an error. New elements\n"
        "are real numbers, quantized by the default rule; a zero is the zero point, or the nearest storage that the\n"
        "bounds of the type allow. Tensors that are joined have one type.",
    ),
    "order": ("Functions of order", "They compare by value, exactly."),
    "sums": ("Sums and products", "They are exact, or are rounded once where a type says so."),
    "inspects": ("Functions that ask", "They say what a tensor is, or write its values out."),
    "floats": ("No exact result", "Each is an error with this hint, or gives floats, as `qrt.float_results` says."),
    "refused": ("About something else", "Each is an error with this hint."),
}


def sentence(function: Function, entry: Entry) -> str:
    """What a rule says of itself, or the hint."""
    if entry.rule is None:
        return f"`{entry.hint}`" if "(" in entry.hint and " " not in entry.hint.partition("(")[0] else entry.hint
    said = inspect.getdoc(entry.rule)
    assert said, f"the rule of {name_of(function)} needs a docstring"
    return said.partition("\n\n")[0].replace("\n", " ").replace("``", "`").replace("|", "\\|")


def rows(kind: Kind) -> list[str]:
    """The lines of a section: names that have one sentence stand together."""
    names = defaultdict(list)
    for function, entry in table().items():
        if entry.kind == kind:
            names[sentence(function, entry)].append(f"`{name_of(function)}`")
    together = sorted((sorted(set(same)), said) for said, same in names.items())
    return [f"| {', '.join(same)} | {said} |" for same, said in together]


def page() -> str:
    """The whole page."""
    text = HEAD
    for kind, (title, said) in SECTIONS.items():
        column = "what to write" if kind in ("floats", "refused") else "what it gives"
        text += f"## {title}\n\n{said}\n\n| function | {column} |\n|---|---|\n" + "\n".join(rows(kind)) + "\n\n"
    named = (name for name in vars(Methods) if not name.startswith("_"))
    has = ", ".join(
        f"`{name}`" for name in sorted([*named, "T", "copy", "nbytes", "ndim", "reshape", "shape", "size", "transpose"])
    )
    text += f"## Attributes of an ndarray\n\nA QuantTensor has {has}.\n\n| not there | what to write |\n|---|---|\n"
    return text + "\n".join(f"| `{name}` | {hint} |" for name, hint in ABSENT.items()) + "\n"
