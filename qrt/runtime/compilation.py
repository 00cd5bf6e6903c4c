"""Compilation of a module's function to a program, and the passes that prepare it."""

from typing import Literal

from qrt.errors import QuantTypeError, shown
from qrt.extras import extra
from qrt.ir import Module, parse
from qrt.ir.pipeline_text import spell_steps
from qrt.runtime.module_source import ModuleSource
from qrt.runtime.prepare import preparation
from qrt.runtime.program import Program


def compile(
    module: Module | str,
    function: str | None = None,
    *,
    saturating: bool = False,
    codegen: bool | Literal["best-effort"] = False,
) -> Program:
    """Compile a function of a program. If all input shapes are static, the function is planned at once.

    Parameters
    ----------
    module : ir.Module or str
        A program, or its MLIR text.
    function : str, optional
        The name of the function. The default is ``main``, or the only function of the module.
    saturating : bool, default False
        True converts a float outside an integer type's range to the nearest integer of the type, and a NaN to 0. False
        raises a ModelError for such a float when the program runs, because MLIR leaves the conversion undefined.
    codegen : bool or "best-effort", default False
        True lowers the ops of ``qrt`` and ``quant``, and compiles the function to machine code for this CPU. The bits
        of results do not change. An op without machine code is an error; with "best-effort" its function runs as
        without ``codegen``. `docs/lowering.md` lists the ops. It needs ``pip install "qrt[codegen]"``.

    Returns
    -------
    Program

    Raises
    ------
    ParseError
        If the text is not MLIR.
    VerifyError
        If the program is not valid IR.
    ModelError
        If there is no such function, or if it has an operation that cannot run or, with ``codegen``, an operation
        without machine code.
    QuantTypeError
        If an argument has a wrong type.
    MissingPackageError
        If ``codegen`` needs a package that is not installed.

    Examples
    --------
    >>> text = '''func.func @f(%x: tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>> {
    ...   %0 = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32, 0.5:3>>
    ...   return %0 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
    ... }'''
    >>> import numpy as np
    >>> compile(text)(np.float32([1, 2])).storage.tolist()
    [5, 7]
    """
    if not isinstance(codegen, bool | str) or codegen not in (False, True, "best-effort"):
        raise QuantTypeError(f"compile: 'codegen' must be False, True or \"best-effort\", got {shown(codegen)}")
    if codegen:
        extra("llvmlite", "codegen")  # it may be missing, which is better said before the import
        from qrt.runtime.codegen.source import MachineCodeSource
    parsed = parse(module) if isinstance(module, str) else module
    if codegen:
        is_best_effort = codegen == "best-effort"
        return Program(MachineCodeSource(parsed, function, saturating=saturating, is_best_effort=is_best_effort))
    return Program(ModuleSource(parsed, function, saturating=saturating))


def preparation_text(program: Program) -> str:
    """Return the passes that prepare a program for planning, as a pipeline for ``qrt opt --pass-pipeline``."""
    return spell_steps(preparation(program.module, program.module.function(program.name), program._source.saturating))
