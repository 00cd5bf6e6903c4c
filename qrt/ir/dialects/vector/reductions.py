"""The ops `vector.reduction` and `vector.multi_reduction`, and the kinds of reduction, such as "add"."""

from qrt.ir.core.attribute_kinds import ENUMERATIONS, enumeration
from qrt.ir.core.constraints import element_of, element_type_of, same_as
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import PURE
from qrt.ir.dialects.arith.ops import FLAGS
from qrt.ir.dialects.vector.types import POSITIONS, integers, part_type, vector_of
from qrt.types import FloatType, IndexType, IntegerType, Type

KINDS = "add mul minui minsi minnumf maxui maxsi maxnumf and or xor minimumf maximumf"
KIND = AttributeSpec(kind=enumeration("vector.kind", KINDS), required=True)


def kind_of(operation: Operation) -> str:
    """Return the kind of a reduction, one of `KINDS`, such as "add"."""
    return ENUMERATIONS["vector.kind"].flags(operation.attributes["kind"])[0]


def combination(operation: Operation) -> str:
    """Return the name of the `arith` op that combines two elements of a reduction, such as `arith.addf`."""
    kind, element = kind_of(operation), element_of(operation.results[0].type)
    if kind in ("add", "mul"):
        kind += "f" if isinstance(element, FloatType) else "i"
    elif kind in ("and", "or", "xor"):
        kind += "i"
    return f"arith.{kind}"


def require_kind(operation: Operation, element: Type) -> None:
    kind = kind_of(operation)
    is_integer = isinstance(element, IntegerType | IndexType)
    if kind not in ("add", "mul") and (kind[-1] == "f") == is_integer:
        raise operation.op_error(f"unsupported reduction type ''{element}'' for kind '{kind}'")


def _verify_reduction(operation: Operation) -> None:
    vector = vector_of(operation.operands[0])
    if len(vector.shape) > 1:
        raise operation.op_error(f"unsupported reduction rank: {len(vector.shape)}")
    require_kind(operation, vector.element)


def _verify_multi_reduction(operation: Operation) -> None:
    source, dimensions = vector_of(operation.operands[0]), integers(operation, "reduction_dims")
    if any(not 0 <= axis < len(source.shape) for axis in dimensions) or len(set(dimensions)) < len(dimensions):
        raise operation.op_error(
            f"reduction dimensions must be distinct and in [0, {len(source.shape)}), got {list(dimensions)}"
        )
    remaining = (axis for axis in range(len(source.shape)) if axis not in dimensions)
    if operation.results[0].type is not part_type(source, remaining):
        raise operation.op_error(
            f"destination type '{operation.results[0].type}' is incompatible with source type '{source}'"
        )
    require_kind(operation, source.element)


OPS = [
    Definition(
        "vector.reduction",
        operands=("vector: vector", "acc?"),
        results=("dest",),
        attributes={"kind": KIND, "fastmath": FLAGS["fastmath"]},
        infer={"dest": element_type_of("vector"), "acc": same_as("dest")},
        traits={PURE},
        format="$kind `,` $vector (`,` $acc^)? (`fastmath` `` $fastmath^)? attr-dict `:` "
        "type($vector) `into` type($dest)",
        verify_signature=_verify_reduction,
        canonicalize=("vector.canonicalize_reductions: one_element",),
    ),
    Definition(
        "vector.multi_reduction",
        operands=("source: vector", "acc"),
        results=("dest",),
        attributes={"kind": KIND, "reduction_dims": POSITIONS},
        infer={"acc": same_as("dest")},
        traits={PURE},
        format="$kind `,` $source `,` $acc attr-dict $reduction_dims `:` type($source) `to` type($dest)",
        verify_signature=_verify_multi_reduction,
        canonicalize=("vector.canonicalize_reductions: unit_dimensions",),
    ),
]
