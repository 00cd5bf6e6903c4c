"""`bufferization`: conversions between tensors and buffers."""

from qrt.ir.core.attribute_kinds import UNIT
from qrt.ir.core.constraints import INDEX, Relation, same_as
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import MEM_ALLOC, MEM_FREE, MEM_READ, MEM_WRITE, PURE
from qrt.ir.dialects._shaped.types import memref_type, ranked, require_cast, require_sizes, shaped
from qrt.types import MemRefType, TensorType, Type

_FLAG = AttributeSpec(kind=UNIT)


def tensor_of(type: Type) -> Type:
    """Return the tensor type with the shape and element type of a memref."""
    return TensorType(type.shape, type.element) if isinstance(type, MemRefType) else type


def _verify_to_buffer(operation: Operation) -> None:
    tensor, buffer = ranked(operation.operands[0]), memref_type(operation.results[0])
    if tensor.shape != buffer.shape:
        raise operation.error("shapes do not match")
    if tensor.element is not buffer.element:
        raise operation.error("element types do not match")


def _verify_materialize(operation: Operation) -> None:
    source, target = ranked(operation.operands[0]), shaped(operation.operands[1])
    if source.element is not target.element:
        raise operation.op_error("failed to verify that all of {source, dest} have same element type")
    if len(source.shape or ()) != len(target.shape or ()):
        raise operation.op_error("failed to verify that all of {source, dest} have same shape")
    for index, (a, b) in enumerate(zip(source.shape or (), target.shape or (), strict=True)):
        if None not in (a, b) and a != b:
            raise operation.op_error(f"source/destination shapes are incompatible: dimension {index}")
    if isinstance(target, TensorType):
        if len(operation.results) != 1:
            raise operation.op_error("tensor destination requires exactly one result")
        if operation.results[0].type is not target:
            raise operation.op_error("result and destination types must match")
        if "restrict" in operation.attributes:
            raise operation.op_error("'restrict' is valid only for memref destinations")
    elif operation.results:
        raise operation.op_error("memref destination requires zero results")
    if ("writable" in operation.attributes) != isinstance(target, MemRefType):
        raise operation.op_error("'writable' must be specified if and only if the destination is of memref type")


def _verify_alloc_tensor(operation: Operation) -> None:
    sizes, copied = (operation.operand_group(group) for group in ("dynamic_sizes", "copy"))
    if copied and sizes:
        raise operation.error("dynamic sizes not needed when copying a tensor")
    if not copied:
        require_sizes(operation, ranked(operation.results[0]), len(sizes))


def _verify_clone(operation: Operation) -> None:
    given, result_type = memref_type(operation.operands[0]), memref_type(operation.results[0])
    is_of_rank = given.shape is None or len(given.shape) == len(result_type.shape or ())
    require_cast(operation, given.element is result_type.element and is_of_rank)


OPS = [
    Definition(
        "bufferization.to_tensor",
        operands=("buffer: ranked or unranked memref",),
        results=("result: tensor",),
        attributes={"restrict": _FLAG, "writable": _FLAG},
        infer={"result": Relation("buffer", tensor_of, "result type matches tensor equivalent of 'memref'")},
        traits={MEM_READ},
        format="$buffer (`restrict` $restrict^)? (`writable` $writable^)? attr-dict `:` "
        "type($buffer) `to` type($result)",
        canonicalize=("bufferization.canonicalize: tensor_of_buffer",),
    ),
    Definition(
        "bufferization.to_buffer",
        operands=("tensor: tensor",),
        results=("buffer: ranked or unranked memref",),
        attributes={"read_only": _FLAG},
        traits={PURE},
        format="$tensor (`read_only` $read_only^)? attr-dict `:` type($tensor) `to` type($buffer)",
        verify_signature=_verify_to_buffer,
        canonicalize=("bufferization.canonicalize: buffer_of_cast buffer_of_tensor",),
    ),
    Definition(
        "bufferization.materialize_in_destination",
        operands=("source: tensor", "dest: tensor or memref"),
        results=("result?: tensor",),
        attributes={"restrict": _FLAG, "writable": _FLAG},
        effects=lambda operation: () if operation.results else (MEM_WRITE,),
        format="$source `in` (`restrict` $restrict^)? (`writable` $writable^)? $dest attr-dict `:` "
        "functional-type(operands, results)",
        verify_signature=_verify_materialize,
        canonicalize=("tensor.canonicalize: from_casts",),
    ),
    Definition(
        "bufferization.alloc_tensor",
        operands=("dynamic_sizes*: index", "copy?: tensor", "size_hint?: index"),
        results=("result: tensor",),
        attributes={"memory_space": AttributeSpec()},
        infer={"copy": same_as("result"), "size_hint": Relation(None, lambda _: INDEX, "size_hint is of type 'index'")},
        format="`(` $dynamic_sizes `)` (`copy` `` `(` $copy^ `)`)? (`size_hint` `` `=` `` $size_hint^)? attr-dict `:` "
        "type($result)",
        verify_signature=_verify_alloc_tensor,
        canonicalize=("bufferization.canonicalize: known_sizes",),
    ),
    Definition(
        "bufferization.dealloc_tensor",
        operands=("tensor: tensor",),
        traits={MEM_FREE},
        format="$tensor attr-dict `:` type($tensor)",
    ),
    Definition(
        "bufferization.clone",
        operands=("input: ranked or unranked memref",),
        results=("output: ranked or unranked memref",),
        traits={MEM_READ, MEM_ALLOC},
        format="$input attr-dict `:` type($input) `to` type($output)",
        verify_signature=_verify_clone,
        canonicalize=("memref.canonicalize: from_ranked_casts", "bufferization.canonicalize: needless_clone"),
    ),
]
