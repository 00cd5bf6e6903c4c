"""Import of quantized SVDF. Its state becomes a variable of the program."""

from qrt.models.tflite.node import Node
from qrt.models.tflite.operators import svdf_plain
from qrt.types import UniformType


def svdf(node: Node) -> None:
    """Import SVDF: run an SVDF layer with int8 input and weights and an int16 state.

    The layer may also have float32 inputs, with int8 weights and a float32 state.
    """
    if node.is_float:
        svdf_plain.svdf(node)
        return
    x, feature, time, memory = (node.element(i) for i in (0, 1, 2, 4))
    if (x.storage, feature.storage, time.storage, memory.storage) != ("i8", "i8", "i16", "i16"):
        node.refuse(f"{x.storage} with weights of {feature.storage} and a state of {memory.storage}")
    if node.options["fused_activation_function"] != "RELU":
        node.fail(
            "fused_activation_function must be RELU (which LiteRT does not apply), got "
            f"{node.options['fused_activation_function']}"
        )
    operands = [node.value(0), node.value(1), node.value(2), node.value(4)]
    if node.has(3):
        data = node.constant(3)
        if data is None or node.input(3).dtype != "int32":
            node.refuse("a bias that is not an int32 constant")
        operands.append(node.dense(data, UniformType("i32", "f32", memory.scale * time.scale)))
    out = node.result_element()
    y, after = node.emit_all("qrt.svdf", operands, {"rank": int(node.options["rank"])}, [out, memory])
    node.set(0, y)
    node.graph.store(node.op, node.graph.variable(node.input(4)), after)
