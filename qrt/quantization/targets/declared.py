"""The kernels that a target derives from the declarations of op families (docs/reference/targets.md, `[operations]`).

Each op family that declares a constraint between its scales can be quantized. The table `[operations]` of a target adds
only the storage types of its operands and results.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from qrt.errors import ModelError, QuantTypeError, shown
from qrt.numerics.float_text import FORMATS
from qrt.ops import FAMILIES, OpFamily
from qrt.types.storage import parse_storage

SUM_MULTIPLIERS: Final = [0, 1 << 24]
"""The range of multipliers in a sum of two tensors, for which 64 bits hold the sum of the products."""

WITHOUT_REGIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("argmax", "argmin", "top_k"), "the results are indices, which remain integers"),
    **dict.fromkeys(
        ("gather", "gather_nd", "scatter_nd"), "the indices are integers, and all ports of a region are floats"
    ),
    **dict.fromkeys(("qcast", "dcast", "scast", "requantize"), "they convert values between regions"),
    **dict.fromkeys(("dynamic_matmul", "dynamic_lstm", "float_matmul"), "the activations remain floats"),
    **dict.fromkeys(
        ("lstm", "svdf", "log_softmax"),
        "a float program has several operations, each of which becomes a region",
    ),
    **dict.fromkeys(("logistic", "tanh", "leaky_relu"), "a function of one variable becomes a region of `lookup`"),
    "prelu": ("a float program has several operations, which become regions of `lookup`, `mul` and `maximum`"),
    "squared_difference": "a float program has a difference and a product, which become regions of `sub` and `mul`",
    "lookup_interpolated": (
        "results are interpolated between entries of a table, and differ from the rounded value of the function"
    ),
    "cumsum": "`linalg`, `math` and `tensor` have no such operation",
    "resize_bilinear": "`linalg`, `math` and `tensor` have no such operation",
    "transpose_conv2d": "`linalg` has no such operation",
    "detection_postprocess": "the results are floats",
}
"""The families of which quantization makes no region by default, with the reason."""

KEYS: Final = ("activations", "results", "default", "moved", "weights", "bias", "without")
"""The keys of the table `[operations]`."""


def declared_tables(policy: Mapping[str, Any], names: Collection[str], where: str) -> Sequence[Mapping[str, Any]]:
    """Return a `[[kernel]]` table for each op family that can be quantized, except for those that a target leaves out.

    ``policy`` is the target's table `[operations]`; its key ``without`` lists operations to leave out. ``names`` are
    the kernels that the target lists itself, which are also left out. ``where`` is the prefix of messages. Raises
    ModelError for unknown keys, for a table without ``activations``, or if ``without`` lists an unknown operation.
    """
    for key in policy:
        if key not in KEYS:
            raise ModelError(f"{where}: unknown key {shown(key)}: the keys are {', '.join(KEYS)}")
    if not policy.get("activations"):
        raise ModelError(f"{where}: 'activations' must be given, such as 'i8' or [\"i8\", \"u8\"]")
    if "default" in policy and _listed(policy.get("results")) != ["*"]:
        raise ModelError(
            f"{where}: 'default' can be given only together with results = \"*\", because it is the storage of "
            "such results"
        )
    left_out = policy.get("without", [])
    if not isinstance(left_out, list):
        raise ModelError(f"{where}: 'without' must be a list of names of operations, got {shown(left_out)}")
    unknown = next((name for name in left_out if name not in FAMILIES), None)
    if unknown is not None:
        raise ModelError(f"{where}: 'without' must have names of operations of qrt, got {shown(unknown)}")
    return [
        _table(family, policy)
        for name, family in FAMILIES.items()
        if family.traits.constraint is not None and name not in names and name not in left_out
    ]


def _table(family: OpFamily, policy: Mapping[str, Any]) -> Mapping[str, Any]:
    traits = family.traits
    keeps_type = traits.constraint == "same_scale"
    storages = policy["moved"] if traits.is_movement and keeps_type and "moved" in policy else policy["activations"]
    activations = [text for text in _listed(storages) if _bits(text) <= traits.operand_bits] or ["i8"]
    results = activations if keeps_type else _listed(policy.get("results", policy["activations"]))
    ports: dict[str, list[str]] = {}
    for number, operand in enumerate(family.declaration.operands):
        if number in traits.tables:
            continue  # export computes the table
        texts = activations
        if traits.weights is not None and number == 1:
            texts = [_by_channel(text, traits.weights.outputs) for text in _listed(policy.get("weights", activations))]
        elif traits.weights is not None and number == 2:
            texts = [_by_channel(policy.get("bias", "i32"), 0)]
        ports[operand.name + operand.size] = texts
    table: dict[str, Any] = {"name": family.name, "constraint": traits.constraint, "ports": {**ports, "y": results}}
    if traits.constraint == "sum_scale":
        table["multiplier"] = SUM_MULTIPLIERS
    if results == ["*"] and "default" in policy:
        table["default"] = {"y": policy["default"]}
    return table


def _listed(texts: Any) -> list[Any]:
    return texts if isinstance(texts, list) else [texts]


def _by_channel(text: Any, axis: int) -> Any:
    """Return the text of a port with ``axis=...`` appended, unless the port is a float, which has no scales."""
    return text if text in FORMATS or not isinstance(text, str) else f"{text} axis={axis}"


def _bits(text: Any) -> int:
    """Return the bits of the storage in a port's text, such as 8 for ``"i8<-127:127> axis=0"``.

    Floats give 0, and so do invalid texts, for which an error is raised later.
    """
    storage = text.split("<")[0].split(" ")[0] if isinstance(text, str) else ""
    if storage in FORMATS:
        return 0
    try:
        return getattr(parse_storage(storage)[0], "width", 0)
    except QuantTypeError:
        return 0
