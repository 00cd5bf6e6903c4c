"""docs/reference/numpy.md: the table of NumPy's functions as a page, which `make expected` writes."""

import ast
import inspect
from collections import defaultdict

from qrt.tensor.protocol.methods import ABSENT, Methods
from qrt.tensor.protocol.table import Entry, Function, Kind, name_of, table
from tests.docs.documents import ROOT
from tests.tensor.numpy_limits import LIMITS, MOST

PAGE = ROOT / "docs" / "reference" / "numpy.md"
HEAD = """# NumPy's functions on a QuantTensor

A `qrt.QuantTensor` can be the argument of NumPy's functions. This page lists the result of each function, ufunc and
ufunc method, for readers who write NumPy code on such tensors:

- If the result is exact, or is rounded only once, the function returns a QuantTensor or an array. The array has
  indices, counts or bools or, for means and roots, float64 numbers.
- Otherwise the call raises an error with the expression to write instead. Inside of `with
  qrt.float_results("allow"):` such a call returns what NumPy returns for the values as floats, `np.asarray(q)`.
  If NumPy does not accept floats, as in `np.bitwise_and`, the call raises NumPy's error.
- A function that is not listed raises an error.

`np.asarray(q)` and `np.array(q)` return the values as floats. A method of a tensor, such as `q.round()`, does the same
as NumPy's function of that name, here `np.round(q)`.

The page uses these words:

| word | meaning |
|---|---|
| per layer | said of a type that has one scale and one zero point |
| per axis, channel | a per-axis type has a scale and a zero point for each channel, an index along one axis |
| sub-channel, block | a sub-channel type has a scale and a zero point for each block of elements |
| storage | the integers in memory |
| to quantize a real number | to convert it to storage by the [default rule of casts](../numerics.md#casts) |

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

**Reading.** `q[key]` accepts the keys of an ndarray: integers, slices, `...`, `None`, lists, integer arrays and
masks. If the key has an integer at the axis of channels, the result has the type of that channel, which is per layer.
If the key has an array at this axis, the result has a per-axis type with the selected channels. The result is a view
where NumPy's result would be a view. Storage of 1, 2 or 4 bits, which has several values in a byte, is copied instead.

**Writing.** `q[key] = x` writes real numbers, which are quantized, or a QuantTensor of the type of `q[key]`. Writing
to a view changes the tensor whose elements it shows. A ValueError is raised for tensors that cannot be written to:
results of `qrt.pack`, broadcasts, and parts of tensors of 1, 2 or 4 bits, which are copies.

**Tensors in lists.** Functions that expect a list of arrays, such as `np.concatenate` and `np.select`, accept a list of
tensors. If NumPy expects one array and gets a list of tensors, as in `np.sum([q, r])`, it converts the list to an array
of floats. It also converts the value of `np.full(shape, q)`; write `np.full_like(q, x)` instead.

**Python.** `len`, iteration, `in`, `bool`, `float`, `int`, `item` and `tolist` work as for an ndarray. If
NumPy would raise IndexError, ValueError or AxisError, the error is of that class, and also a `QuantTypeError`.

"""
SECTIONS: dict[Kind, tuple[str, str]] = {
    "moves": (
        "Functions that move elements",
        "The result has the type of the tensor. If the function moves or selects channels, the result's type has the\n"
        "new axis and the scales of the selected channels. An error is raised if a block would be split, or if\n"
        "elements with different scales would get into one channel. New elements are real numbers, which are\n"
        "quantized. A new 0 becomes the zero point or, if the bounds of the type exclude it, the nearest bound.\n"
        "Tensors that are joined must have the same type.",
    ),
    "order": ("Functions that compare, sort and search", "These functions compare values, without rounding."),
    "sums": ("Sums and products", "Results are exact, or are rounded once, to the type of the result."),
    "inspects": (
        "Functions that describe a tensor",
        "These functions return the shape or the kind of a tensor, or print its values.",
    ),
    "floats": (
        "No exact result",
        "Each call raises an error with the expression to write instead, with the arguments of the call. `q` and `r`\n"
        'are tensors, `x` and `y` arrays of floats. Within `qrt.float_results("allow")` the call computes with floats.',
    ),
    "refused": ("Not supported", "Each call raises an error with this advice."),
}


COST = f"""## What it costs

Each function is computed by Python code that calls NumPy, or a kernel, on the storage. `benches/test_numpy.py`
compares the CPU time of every function with NumPy's time for an array of the same number of bytes. With 16 elements, a
function takes at most {MOST} us longer. With 64K elements or more, it takes at most 1.1 times as long, or {MOST} us
longer. The calls of the table take longer, by the factor or the time that follows the call. In these calls, `x`, `y`
and `u` are matrices, and `v`, `w` and `k` vectors, of a type of 8 bits with a zero point. For many calls on few
elements, use `a @ b`, `a + b` or the functions of `qrt`, [which take less time for each call](kernels/calls.md).

| reason | calls, and the greatest time as a multiple of NumPy's |
|---|---|
"""


def sentence(function: Function, entry: Entry) -> str:
    """What a rule says of itself, or the hint."""
    if entry.rule is None:
        return f"`{entry.hint}`" if _is_expression(entry.hint) else entry.hint
    said = inspect.getdoc(entry.rule)
    assert said, f"the rule of {name_of(function)} needs a docstring"
    return said.partition("\n\n")[0].replace("\n", " ").replace("``", "`").replace("|", "\\|")


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


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
        column = "what to write" if kind in ("floats", "refused") else "result"
        text += f"## {title}\n\n{said}\n\n| function | {column} |\n|---|---|\n" + "\n".join(rows(kind)) + "\n\n"
    named = (name for name in vars(Methods) if not name.startswith("_"))
    has = ", ".join(
        f"`{name}`" for name in sorted([*named, "T", "copy", "nbytes", "ndim", "reshape", "shape", "size", "transpose"])
    )
    text += f"## Attributes of an ndarray\n\nA QuantTensor has {has}.\n\n"
    text += "| missing attribute | what to write |\n|---|---|\n"
    return text + "\n".join(f"| `{name}` | {hint} |" for name, hint in ABSENT.items()) + "\n\n" + cost()


def cost() -> str:
    """What a call costs beside NumPy's, by the data of the bench."""
    lines = []
    for limits in LIMITS.values():
        calls = [f"`{call}`" + f" {times:g} times" * (times > 1.1) for call, times in limits.calls.items()]
        more = f"; {limits.microseconds} us more" * (limits.microseconds > MOST)
        lines.append(f"| {limits.reason} | {', '.join(calls)}{more} |")
    return COST + "\n".join(lines) + "\n"
