"""Runs an op lowered, by the interpreter and as a planned program, and compares with the family's reference and its
kernels, bit for bit."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np

from qrt.ir import DenseElementsAttr, Module, Value, attribute, parse, run_passes
from qrt.ir.text.dense import storage_dtype
from qrt.runtime.compilation import compile
from qrt.types import TensorType, Type, UniformType
from tests.ops.harness import Array, check_kernels, infer

OPTIONS = tuple(
    f"zero-point={zero_point} to={to}"
    for zero_point, to in product(("post-accumulation", "in-loop"), ("linalg", "loops"))
)


def program(
    name: str,
    arrays: Sequence[Array],
    types: Sequence[TensorType],
    result: TensorType,
    fixed: Iterable[int] = (),
    **attributes: Any,
) -> str:
    """The text of a function of one op; the operands in `fixed` are constants."""
    lines, arguments, names = [], [], []
    for i, (array, t) in enumerate(zip(arrays, types, strict=True)):
        if i in fixed:
            stored = t.with_(element=t.element.storage_type) if isinstance(t.element, UniformType) else t
            dense = DenseElementsAttr(array.astype(storage_dtype(stored.element)), stored)
            constant = f"%x{i}" if stored is t else f"%c{i}"
            lines.append(f"{constant} = arith.constant {dense}")
            if stored is not t:
                lines.append(f"%x{i} = quant.scast {constant} : {stored} to {t}")
        else:
            arguments.append(f"%x{i}: {t}")
        names.append(f"%x{i}")
    said = ", ".join(f"{key} = {attribute(value)}" for key, value in attributes.items())
    listed = ", ".join(map(str, types))
    lines.append(f"%y = qrt.{name} {', '.join(names)} {{{said}}} : ({listed}) -> {result}")
    body = "\n  ".join([*lines, f"return %y : {result}"])
    return f"func.func @main({', '.join(arguments)}) -> {result} {{\n  {body}\n}}\n"


def lowered(text: str, options: str = "") -> Module:
    """The program without ops of `qrt`; quantized values are cast, given and returned, and nothing else."""
    module = run_passes(parse(text), f"lower-qrt{{{options}}}")
    for op in module.operation.walk():
        assert not op.name.startswith("qrt.")
        assert op.name in ("quant.scast", "func.return") or not any(map(_is_quantized, (*op.operands, *op.results)))
    return module


def _is_quantized(value: Value) -> bool:
    return isinstance(value.type, TensorType) and isinstance(value.type.element, UniformType)


def run(module: Module, arrays: Sequence[Array], interpret: bool) -> Array:
    """The storage of the only result."""
    compiled = compile(module)
    inputs = {port.name: array for port, array in zip(compiled.inputs, arrays, strict=True)}
    (result,) = compiled.run(inputs, interpret=interpret).values()
    return np.asarray(getattr(result, "storage", result))


def check_lowered(
    name: str,
    arrays: Sequence[Array],
    types: Sequence[TensorType],
    out: Type | TensorType | None = None,
    constants: Iterable[Sequence[int]] = ((),),
    options: Iterable[str] = OPTIONS,
    **attributes: Any,
) -> Array:
    """Asserts that the op lowered equals its kernels, and those the reference; gives that."""
    constants = tuple(constants)
    expected = check_kernels(name, arrays, types, out, constants, **attributes)
    result = infer(name, types, out, **attributes)
    for fixed, said, interpret in product(constants, options, (True, False)):
        module = lowered(program(name, arrays, types, result, fixed, **attributes), said)
        given = [array for i, array in enumerate(arrays) if i not in fixed]
        got = run(module, given, interpret)
        np.testing.assert_array_equal(got, expected, err_msg=f"{name}, constants {fixed}, {said}\n{module}")
    return expected
