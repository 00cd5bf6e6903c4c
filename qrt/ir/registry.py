"""The ops that are known, by name. A dialect is a module of `qrt.ir.dialects` with a list `OPS`."""

from qrt.ir.define import Definition
from qrt.ir.dialects import arith, builtin, func, qrt, quant

DIALECTS = {"arith": arith, "builtin": builtin, "func": func, "quant": quant, "qrt": qrt}

DEFINITIONS: dict[str, Definition] = {
    definition.name: definition for dialect in DIALECTS.values() for definition in dialect.OPS
}
