"""Float arithmetic of a program as ops of `qrt` on floats: loop nests are read as the pass `fuse-kernels` reads them.

The ops that are made here are for the writers alone: families take no floats, but ONNX does.
"""

from typing import Any

from qrt.ir import Module, Operation, Value
from qrt.ir.core.attributes import attribute
from qrt.ir.core.constraints import element_of
from qrt.ir.core.rewrite import Builder
from qrt.passes.quantization.forms import Form, form_of
from qrt.passes.quantization.fuse_kernels import FuseKernels
from qrt.types import TensorType

_FLOATS = ("linalg.", "tensor.")
"""Dialects whose ops have no writers of their own."""
KERNEL = "quant.region"


def with_kernels(module: Module) -> Module:
    """The module itself where it has no loop nests; else a copy in which kernels stand in their place."""
    if not any(op.name.startswith(_FLOATS) and op.name != "tensor.bitcast" for op in module.operation.walk()):
        return module
    made = Module(module.operation.clone({}))
    FuseKernels().run(made)
    for op in list(made.operation.walk()):
        if op.name == KERNEL and len(op.results) == 1:
            form = form_of(op.regions[0].blocks[0], str(op.attributes["kernel"].python))
            if form is None or form.family == "lookup" or _is_one_op(op):
                _put_back(op)
            else:
                _replace(op, form)
    return made


def _is_one_op(region: Operation) -> bool:
    """Whether the body is one op of `qrt`, which has attributes that no form has."""
    names = [operation.name for operation in region.regions[0].blocks[0]]
    return len(names) == 2 and names[0].startswith("qrt.")


def _put_back(region: Operation) -> None:
    """Puts the body in place of a region."""
    body = region.regions[0].blocks[0]
    values = dict(zip(body.arguments, region.operands, strict=True))
    *operations, last = body
    assert region.parent is not None
    for operation in operations:
        region.parent.insert_before(region, operation.clone(values))
    returned = last.operands[0]
    region.results[0].replace_all_uses(values.get(returned, returned))
    region.erase()


def _replace(region: Operation, form: Form) -> None:
    builder, (result,) = Builder.before(region), region.results
    operands = [_permuted(builder, region.operands[each.number], each.permutation) for each in form.operands]
    value = _made(builder, f"qrt.{form.family}", operands, result, dict(form.attributes))
    if (form.low, form.high) != (None, None):
        value = _made(builder, "qrt.clamp", [value], result, {"min": form.low, "max": form.high})
    result.replace_all_uses(value)
    region.erase()


def _made(builder: Builder, name: str, operands: list[Value], result: Value, attributes: dict[str, Any]) -> Value:
    said = {key: attribute(value) for key, value in attributes.items() if value is not None}
    return builder.create(name, operands, [result.type], said).result


def _permuted(builder: Builder, value: Value, permutation: tuple[int, ...] | None) -> Value:
    if permutation is None or not isinstance(value.type, TensorType) or value.type.shape is None:
        return value
    kind = TensorType(tuple(value.type.shape[axis] for axis in permutation), element_of(value.type))
    return builder.create("qrt.transpose", [value], [kind], {"permutation": attribute(permutation)}).result
