"""The ops that are known, by name. A dialect is a module of `qrt.ir.dialects` with a list `OPS`."""

from qrt.ir.define import Definition
from qrt.ir.dialects import (
    affine,
    arith,
    bufferization,
    builtin,
    cf,
    func,
    linalg,
    math,
    memref,
    qrt,
    quant,
    scf,
    shape,
    tensor,
    vector,
)

DIALECTS = {
    "affine": affine,
    "arith": arith,
    "bufferization": bufferization,
    "builtin": builtin,
    "cf": cf,
    "func": func,
    "linalg": linalg,
    "math": math,
    "memref": memref,
    "quant": quant,
    "qrt": qrt,
    "scf": scf,
    "shape": shape,
    "tensor": tensor,
    "vector": vector,
}

DEFINITIONS: dict[str, Definition] = {
    definition.name: definition for dialect in DIALECTS.values() for definition in dialect.OPS
}
