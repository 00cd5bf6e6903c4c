"""What mlir-opt 22 has no way to LLVM for, so that nothing is compared: a program for each, which must not run."""

from collections.abc import Iterator

from tests.oracle.execution.case import Case
from tests.oracle.execution.values import Value

UNREACHABLE = {
    "math.isinf": "no conversion",
    "math.isnormal": "no conversion",
    "shape.div": "no conversion",
    "math.ipowi on index": "no conversion",
    "arith.addui_extended on index": "converts to a struct of index, which LLVM has not",
    "arith.truncf to f4E2M1FN, arith.scaling_truncf": "the expansion rounds ties away from zero and drops zeros' signs",
    "arith.truncf to f8 and f6 types, arith.extf of them": "no conversion",
    "tensors and memrefs of i1 to i7": "mlir-opt ends where they are read; strided copies of i4 are wrong",
}

_PROGRAMS = {
    "isinf": ("f32", "i1", "%r = math.isinf %a : f32"),
    "div": ("index", "index", "%r = shape.div %a, %a : index, index -> index"),
    "isnormal": ("f32", "i1", "%r = math.isnormal %a : f32"),
    "ipowi": ("index", "index", "%r = math.ipowi %a, %a : index"),
    "addui_extended": ("index", "index", "%r, %o = arith.addui_extended %a, %a : index, i1"),
    "f8": ("f32", "i8", "%x = arith.truncf %a : f32 to f8E5M2\n  %r = arith.bitcast %x : f8E5M2 to i8"),
    "i7": (
        "i7",
        "i7",
        "%m = memref.alloca() : memref<i7>\n  memref.store %a, %m[] : memref<i7>\n  %r = memref.load %m[] : memref<i7>",
    ),
    "f6": ("f32", "i6", "%x = arith.truncf %a : f32 to f6E3M2FN\n  %r = arith.bitcast %x : f6E3M2FN to i6"),
}


def programs() -> Iterator[Case]:
    """Each of them must fail in every pipeline."""
    for given, result, line in _PROGRAMS.values():
        text = f"func.func @f(%a: {given}) -> {result} {{\n  {line}\n  return %r : {result}\n}}\n"
        yield Case("unreachable", text, [[Value(given, (), (1,))]])
