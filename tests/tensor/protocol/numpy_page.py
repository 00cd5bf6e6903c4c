"""docs/reference/numpy.md: the table of NumPy's functions as a page, which `make expected` writes."""

import inspect
from collections import defaultdict

from qrt.tensor.protocol.methods import ABSENT, Methods
from qrt.tensor.protocol.table import Entry, Function, Kind, name_of, table
from tests.docs.documents import ROOT
from tests.tensor.numpy_limits import LIMITS, MOST

PAGE = ROOT / "docs" / "reference" / "numpy.md"
HEAD = """# NumPy's functions on a QuantTensor

`make expected` writes this page from the table by which qrt answers NumPy's functions, ufuncs and their methods.
A function that the page does not list is an error, which says so.

A function has an exact quantized result, or it is an error that says what to write instead. Within
`qrt.float_results("allow")` a function without an exact result gives what NumPy gives for `np.asarray(q)`, the values
as floats. `np.asarray` and `np.array` always give these values.

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
the axis of channels gives a tensor of that channel's type, which is per layer. An array along it gives a per-axis type
of the channels that it selects. The result is a view where NumPy makes one. Only storage of 1, 2 or 4 bits, which is
packed, is copied.

`q[key] = x` writes real numbers, quantized by the default rule, or a QuantTensor of the type that `q[key]` has. Writing
to a view writes to its tensor. Three kinds of tensors cannot be written to, which is a ValueError: those of `qrt.pack`,
broadcasts, and parts of packed bits, which are copies.

NumPy does not ask a tensor within a list, or one that is the value of `np.full`: it makes an array of floats of it.
Give `np.where`, `np.select` and the like tensors themselves, and write `np.full_like(q, x)` for `np.full(shape,
x)`.

`len`, iteration, `in`, `bool`, `float`, `int`, `item` and `tolist` do what they do for an ndarray. So do the errors:
where NumPy raises IndexError, ValueError or AxisError, the error is of that class and a `QuantTypeError`.

"""
SECTIONS: dict[Kind, tuple[str, str]] = {
    "moves": (
        "Functions that move elements",
        "The result has the type of the tensor. A per-axis type follows its axis, and its channels are selected with\n"
        "the elements. Blocks stay whole. It is an error if elements of several scales would stand along one axis.\n"
        "New elements are real numbers, quantized by the default rule. A zero becomes the zero point, or the nearest\n"
        "storage within the bounds of the type. Tensors that are joined have one type.",
    ),
    "order": ("Functions of order", "They compare values, without rounding."),
    "sums": ("Sums and products", "They are exact, or are rounded once, to the type of the result."),
    "inspects": ("Functions that ask", "They describe a tensor, or print its values."),
    "floats": (
        "No exact result",
        "Each call is an error that writes the call so, with its own arguments, or gives floats, as\n"
        "`qrt.float_results` decides.",
    ),
    "refused": ("No function of values", "Each call is an error with this advice."),
}


COST = f"""## What it costs

A rule is a function of Python that calls NumPy, or a kernel, on the storage, and makes a tensor of what that gives.
`benches/test_numpy.py` compares the CPU time of every function with NumPy's for arrays of the same bytes. The
budget is {MOST} us more for 16 elements. From 64K elements on it is 1.1 times NumPy's time, or {MOST} us more. The
calls of the table take longer for a reason of their own. There `x` and `y` are matrices, `v`, `w` and `k` vectors
of a type of 8 bits with a zero point. In a loop over few elements use `a @ b`, `a + b` or the functions of `qrt`:
these are bound once and found again.

| why | at most |
|---|---|
"""


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
    return text + "\n".join(f"| `{name}` | {hint} |" for name, hint in ABSENT.items()) + "\n\n" + cost()


def cost() -> str:
    """What a call costs beside NumPy's, by the data of the bench."""
    lines = []
    for limits in LIMITS.values():
        calls = [f"`{call}`" + f" {times:g} times" * (times > 1.1) for call, times in limits.calls.items()]
        more = f"; {limits.microseconds} us more" * (limits.microseconds > MOST)
        lines.append(f"| {limits.reason} | {', '.join(calls)}{more} |")
    return COST + "\n".join(lines) + "\n"
