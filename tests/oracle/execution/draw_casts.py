"""Casts of every type variant, lowered by mlir-opt and by qrt: what they become is executed by both, and must be what
qrt's kernels compute.

mlir-opt rounds toward zero whatever an op says, and leaves what does not fit its integers undefined.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import dedent

from qrt import ir
from qrt.ir import run_passes
from tests import mlir_opt
from tests.oracle.draw_types import Draw, container
from tests.oracle.execution.case import Case
from tests.oracle.execution.values import STORED, value_of
from tests.runtime.cast_variants import FORMS, Variant, variants

_UPSTREAM_RULE = ("toward_zero", "before", "divide")


def casts(draw: Draw) -> Iterator[Case]:
    drawn = [variant for variant in variants(draw) if _is_executable(variant)]
    for variant in drawn:
        yield from _lowered_by_qrt(draw, variant)
    yield from _lowered_by_upstream(draw, [replace(variant, rule=_UPSTREAM_RULE) for variant in drawn])


def _is_executable(variant: Variant) -> bool:
    """Tensors are of types whose loads execute; constants of channels are laid out so that they do."""
    element = f"i{variant.quantized.storage_width}"
    if variant.form.endswith("scalar"):
        return True
    return element in (STORED if variant.form.startswith("per layer") else ("i8", "i16", "i32"))


def _lowered_by_qrt(draw: Draw, variant: Variant) -> Iterator[Case]:
    for text in programs_of(variant):
        lowered = run_passes(ir.parse(text), "lower-quant-ops,canonicalize")
        yield _case(draw, variant, "casts lowered by qrt", _functions(lowered), text, defined=[True, True])


def _lowered_by_upstream(draw: Draw, drawn: Sequence[Variant]) -> Iterator[Case]:
    """All in one process."""
    pairs = [(variant, text) for variant in drawn for text in programs_of(variant)]
    separator = "// -----\n"
    joined = separator.join(f"{text}\n" for _, text in pairs)
    printed = mlir_opt.output(joined, "--split-input-file", "--lower-quant-ops", "--canonicalize").split(separator)
    for (variant, text), lowered in zip(pairs, printed, strict=True):
        yield _case(draw, variant, "casts lowered by mlir-opt", _functions(ir.parse(lowered)), text, defined=None)


def _functions(module: ir.Module) -> str:
    """What stands between the braces of a module."""
    return dedent("".join(str(module).splitlines(keepends=True)[1:-1]))


def _case(draw: Draw, variant: Variant, kind: str, lowered: str, text: str, defined: list[bool] | None) -> Case:
    floats = "quant.qcast" in text
    element = str(variant.quantized.expressed_type) if floats else f"i{variant.quantized.storage_width}"
    arrays = [variant.floats(draw, within) if floats else variant.integers(draw) for within in (False, True)]
    return Case(kind, lowered, [[value_of(array, element)] for array in arrays], defined=defined, meant=text)


def programs_of(variant: Variant) -> tuple[str, str]:
    """A qcast to integers and a dcast of integers. An unranked tensor is ranked outside."""
    stored = f"i{variant.quantized.storage_width}"
    expressed = str(variant.quantized.expressed_type)
    back = (
        f"quant.scast %a : {variant.contained(stored)} to {variant.result}",
        f"quant.dcast %b : {variant.result} to {variant.source}",
    )
    forth = (
        f"quant.qcast %a {variant.attributes} : {variant.source} to {variant.result}",
        f"quant.scast %b : {variant.result} to {variant.contained(stored)}",
    )
    return _program(variant, expressed, stored, forth), _program(variant, stored, expressed, back)


def _program(variant: Variant, given: str, result: str, lines: tuple[str, str]) -> str:
    source, target = variant.contained(given), variant.contained(result)
    if FORMS[variant.form][2] is not None or variant.form.endswith("scalar"):
        body = f"  %b = {lines[0]}\n  %r = {lines[1]}\n"
        outer = source, target
    else:
        outer = container(variant.shape, given), container(variant.shape, result)
        body = (
            f"  %a = tensor.cast %x : {outer[0]} to {source}\n  %b = {lines[0]}\n  %c = {lines[1]}\n"
            f"  %r = tensor.cast %c : {target} to {outer[1]}\n"
        )
    name = "%a" if outer == (source, target) else "%x"
    return f"func.func @f({name}: {outer[0]}) -> {outer[1]} {{\n{body}  return %r : {outer[1]}\n}}\n"
