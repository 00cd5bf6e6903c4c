"""Import of WHERE and UNIQUE. Their elements must be known at import, because the results' sizes depend on them."""

import numpy as np

from qrt.errors import shown
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import finish
from qrt.ops.core import Array

_CONDITIONS = ("bool", "float32", "int8", "int32", "int64", "uint8", "uint32")
_VALUES = ("float32", "int8", "int16", "int32", "int64", "uint8")


def where(node: Node) -> None:
    """Import WHERE: find the positions of the elements that are true, or not 0.

    The elements must be known at import. For a quantized tensor, the storage is compared with 0.
    """
    elements = _known_elements(node, _CONDITIONS)
    if not elements.ndim:
        node.fail("its input must have one or more axes, got shape []")
    _set(node, 0, np.argwhere(elements).astype(np.int64))


def unique(node: Node) -> None:
    """Import UNIQUE: list the distinct elements in the order in which they first occur.

    The other result has, for each element of the input, its index in the list. The elements must be known at import,
    and have one axis.
    """
    elements = _known_elements(node, _VALUES)
    if elements.ndim != 1:
        node.fail(f"its input must have one axis, got shape {list(elements.shape)}")
    if np.isnan(elements).any():
        node.refuse("NaNs")
    numbers: dict[object, int] = {}
    places = [numbers.setdefault(element, len(numbers)) for element in elements.tolist()]
    firsts = np.unique(np.array(places, np.int64), return_index=True)[1]
    _set(node, 0, elements[firsts])
    _set(node, 1, np.array(places, node.options["idx_out_type"].lower()))


def _set(node: Node, i: int, array: Array) -> None:
    if node.outputs[i].dtype != array.dtype.name:
        node.fail(f"result {i} must be of {array.dtype.name}, but the file declares {node.outputs[i].dtype}")
    finish(node, i, array)


def _known_elements(node: Node, dtypes: tuple[str, ...]) -> Array:
    """Return the elements of input 0. Raise UnsupportedForm if they are known only at run time."""
    tensor, array = node.input(0), node.constant(0)
    if tensor.dtype not in dtypes:
        node.refuse(tensor.dtype)
    if array is None:
        node.refuse(
            f"the size of its result depends on elements of {shown(tensor.name)}, known only at run time: compute it "
            "outside of the model, and give it to the model as an input"
        )
    return array
