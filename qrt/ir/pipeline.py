"""Registry of passes by name, and execution of pass pipelines.

A pass is a small dataclass. Its fields are its options (the field `zero_point` is written `zero-point`), and
`run(module)` transforms the module. To add a pass, add a file and a line in `_OWN`.
"""

import re
import time
from dataclasses import fields, is_dataclass
from typing import Any, cast, get_type_hints

from qrt.errors import QuantError, QuantTypeError, require, shown
from qrt.ir.core.operations import garbage_uncollected
from qrt.ir.module import Module
from qrt.ir.pipeline_text import Pass, PipelineStep, Steps, flattened, in_module, parse_steps
from qrt.ir.remarks import Report, remarks_to
from qrt.registry import Registry

_NAME = re.compile(r"[a-zA-Z_][\w.-]*")
_OPTION_TYPES = (bool, int, str)


def checked(name: str, kind: Any) -> type[Pass]:
    """Return `kind` if it is the class of a pass: a dataclass with `run` whose options have supported types.

    Raises QuantTypeError otherwise.
    """
    if not _NAME.fullmatch(name):
        raise QuantTypeError(
            "the name of a pass must begin with a letter or '_', followed by letters, digits, '-', '_' or '.', got "
            f"{shown(name)}"
        )
    if not isinstance(kind, type) or not is_dataclass(kind) or not callable(getattr(kind, "run", None)):
        raise QuantTypeError(f"pass {shown(name)} must be a dataclass with a method run(module), got {shown(kind)}")
    try:
        hints = get_type_hints(kind)  # under `from __future__ import annotations` the fields have texts for types
    except NameError as error:
        raise QuantTypeError(f"pass {shown(name)}: the annotation of a field cannot be resolved: {error}") from None
    for field in fields(kind):
        field.type = hints[field.name]
        if field.type not in _OPTION_TYPES:
            raise QuantTypeError(
                f"pass {shown(name)}: the field '{field.name}' (an option) must be annotated as bool, int or str, "
                f"but is annotated as {getattr(field.type, '__name__', field.type)}"
            )
    return cast("type[Pass]", kind)


_OWN: dict[str, type[Pass] | str] = {
    "attach-stats-ref": "qrt.quantization.annotations.attach_stats_ref:AttachStatsRef",
    "canonicalize": "qrt.ir.passes.canonicalize:Canonicalize",
    "carry-layout": "qrt.runtime.fusion.carry_layout:CarryLayout",
    "check-quant": "qrt.quantization.verification.check_quant:CheckQuant",
    "constant-fold": "qrt.runtime.constant_fold:ConstantFold",
    "convert-elementwise-to-linalg": "qrt.ir.passes.linalg_generic:ConvertElementwiseToLinalg",
    "convert-fake-quant": "qrt.quantization.annotations.convert_fake_quant:ConvertFakeQuant",
    "convert-stats": "qrt.quantization.annotations.convert_stats:ConvertStats",
    "cse": "qrt.ir.passes.cse:CommonSubexpressionElimination",
    "dce": "qrt.ir.passes.dce:DeadCodeElimination",
    "equalize-scales": "qrt.quantization.scaling.equalize_scales:EqualizeScales",
    "export-quant": "qrt.quantization.export.export_quant:ExportQuant",
    "fold-clamp": "qrt.runtime.fusion.fold_clamp:FoldClamp",
    "fold-pad": "qrt.runtime.fusion.fold_pad:FoldPad",
    "fold-plan-constants": "qrt.runtime.constant_fold:FoldPlanConstants",
    "fold-scales": "qrt.quantization.scaling.fold_scales:FoldScales",
    "fold-sign": "qrt.runtime.fusion.fold_sign:FoldSign",
    "fuse-kernels": "qrt.quantization.fusion.fuse_kernels:FuseKernels",
    "fuse-loops": "qrt.runtime.fusion.fuse_loops:FuseLoops",
    "inline": "qrt.ir.passes.inline:Inline",
    "inline-regions": "qrt.ir.passes.inline_regions:InlineRegions",
    "linalg-generalize-named-ops": "qrt.ir.passes.linalg_generic:GeneralizeNamedOps",
    "loop-invariant-code-motion": "qrt.ir.passes.loop_invariant_code_motion:LoopInvariantCodeMotion",
    "lower-qrt": "qrt.ir.passes.lower_qrt:LowerQrt",
    "lower-quant-ops": "qrt.ir.passes.lower_quant_ops:LowerQuantOps",
    "make-tables": "qrt.runtime.fusion.make_tables:MakeTables",
    "normalize-layouts": "qrt.quantization.layouts.normalize_layouts:NormalizeLayouts",
    "normalize-quant-types": "qrt.ir.passes.normalize_quant_types:NormalizeQuantTypes",
    "propagate-quant": "qrt.quantization.propagation.propagate_quant:PropagateQuant",
    "quant-to-integer-types": "qrt.ir.passes.quant_to_integer_types:QuantToIntegerTypes",
    "raise-to-qrt": "qrt.ir.passes.raise_to_qrt:RaiseToQrt",
    "split-concat": "qrt.runtime.fusion.split_concat:SplitConcat",
    "strip-func-quant-types": "qrt.ir.passes.strip_func_quant_types:StripFuncQuantTypes",
    "symbol-dce": "qrt.ir.passes.dce:SymbolDeadCodeElimination",
    "unfuse-kernels": "qrt.quantization.export.unfuse_kernels:UnfuseKernels",
    "widen-depthwise": "qrt.runtime.fusion.widen_depthwise:WidenDepthwise",
}
PASSES = Registry("pass", _OWN, group="qrt.passes", check=checked)
"""Every pass, by the name it has on the command line and in pipelines."""


def register_pass(name: str, kind: type[Pass]) -> None:
    """Register a pass of another package for `run_passes` and ``qrt opt``.

    Instead of this call, an installed package can declare an entry point of the group ``qrt.passes``, with the name of
    the pass, that refers to the class.

    Parameters
    ----------
    name : str
        The name of the pass in pipelines; the option of ``qrt opt`` is ``--name``.
    kind : type
        The class of the pass, a dataclass. Its fields are the pass's options, each a bool, an int or a str; its method
        ``run(module)`` transforms the module in place. The first sentence of its docstring is the help text.

    Raises
    ------
    QuantError
        If a pass of this name is already registered.
    QuantTypeError
        If the class is not a dataclass with ``run``, or an option has an unsupported type.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from qrt.ir import Module, StringAttr, parse
    >>> @dataclass(frozen=True)
    ... class MakePrivate:
    ...     "Makes every function private."
    ...     def run(self, module: Module) -> None:
    ...         for function in module.functions:
    ...             function.attributes["sym_visibility"] = StringAttr("private")
    >>> register_pass("mine-make-private", MakePrivate)
    >>> print(run_passes(parse("func.func @f() { return }"), "mine-make-private"), end="")
    module {
      func.func private @f() {
        return
      }
    }
    """
    require(name, str, "register_pass: 'name'", "a string")
    PASSES.add(name, kind)


_TITLES = {
    "canonicalize": "Canonicalizer",
    "convert-elementwise-to-linalg": "ConvertElementwiseToLinalgPass",
    "cse": "CSE",
    "inline": "Inliner",
    "linalg-generalize-named-ops": "LinalgGeneralizeNamedOpsPass",
    "symbol-dce": "SymbolDCE",
}


def title(step: PipelineStep) -> str:
    """Return the name of a pass in timing reports and IR dumps: the class name, as upstream MLIR prints it."""
    return _TITLES.get(step.name, type(step.action).__name__)


class PassObserver:
    """Observer of a running pipeline. The methods of this base class do nothing.

    `anchors` are the op names in which a step is nested, outermost first.
    """

    def verified(self, seconds: float) -> None:
        """Handle the verification before the first pass, which took `seconds`."""

    def before(self, module: Module, step: PipelineStep, anchors: tuple[str, ...]) -> None:
        """Handle the start of a step."""

    def after(self, module: Module, step: PipelineStep, anchors: tuple[str, ...], seconds: float) -> None:
        """Handle the end of a step, which took `seconds` with its verification."""

    def failed(self, module: Module, step: PipelineStep, anchors: tuple[str, ...]) -> None:
        """Handle a step that raised an error, or after which the module is invalid."""


def run_passes(module: Module, pipeline: str, strict_upstream: bool = False) -> Module:
    """Run a pass pipeline on a module, in place.

    The module is verified before the first pass and after each pass.

    Parameters
    ----------
    module : ir.Module
        The program to transform.
    pipeline : str
        The passes, as for ``qrt opt --pass-pipeline``: ``a,b{option=value flag},builtin.module(func.func(c))``.
    strict_upstream : bool, default False
        The values of options that ``pipeline`` leaves out: if True, those with which passes behave exactly as in
        upstream MLIR; if False, the passes' own defaults.

    Returns
    -------
    ir.Module
        The argument ``module``.

    Raises
    ------
    ParseError
        If the pipeline has an unknown pass, option or value.
    VerifyError
        If the module is invalid before the first pass or after a pass.
    QuantTypeError
        If an argument is of a wrong type.

    Examples
    --------
    >>> from qrt.ir import parse
    >>> module = parse("func.func @f(%x: f32) { %0 = arith.constant 1.0 : f32  return }")
    >>> print(run_passes(module, "builtin.module(func.func(dce))"), end="")
    module {
      func.func @f(%arg0: f32) {
        return
      }
    }
    """
    require(module, Module, "run_passes: 'module'", "a Module")
    require(pipeline, str, "run_passes: 'pipeline'", "a string")
    return run_steps(module, module_steps(pipeline, strict_upstream))


def module_steps(pipeline: str, strict_upstream: bool = False) -> Steps:
    """Parse a pipeline, and return its steps without an outermost `builtin.module(...)`.

    With `strict_upstream`, options that the text leaves out have the values with which passes behave as in upstream
    MLIR.
    """
    return in_module(parse_steps(pipeline, PASSES, strict_upstream))


def run_steps(
    module: Module,
    steps: Steps,
    *,
    strict: bool = False,
    verify_first: bool = True,
    verify_each: bool = True,
    observer: PassObserver | None = None,
    report: Report | None = None,
) -> Module:
    """Run the steps of a pipeline on a module, in place, and return the module.

    The module is verified before the first step if `verify_first`, and after each step if `verify_each`; `strict` is
    passed to `Module.verify`. `report` is called with each warning of the first verification and each remark of a pass.
    """
    observer = observer or PassObserver()
    if verify_first:
        start = time.perf_counter()
        for warning in module.verify(strict):
            if report is not None:
                report(warning)
        observer.verified(time.perf_counter() - start)
    for step, anchors in flattened(steps):
        observer.before(module, step, anchors)
        start = time.perf_counter()
        try:
            with garbage_uncollected(), remarks_to(report):
                step.action.run(module)
                if verify_each:
                    module.verify(strict)
        except QuantError:
            observer.failed(module, step, anchors)
            raise
        observer.after(module, step, anchors, time.perf_counter() - start)
    return module
