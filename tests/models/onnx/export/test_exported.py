"""What models say of their nodes, when it is read back. Hazards: an entry that counts though another tool has changed
its nodes; weights that a tool has changed and that are not read; an entry that a hostile file has made up: a crash, or
an error that does not name it."""

import json

import numpy as np
import onnx
import pytest

import qrt
from qrt import ir
from qrt.errors import ModelError
from qrt.models.onnx.export import model_proto
from tests.models.onnx.export.programs import PROGRAMS
from tests.models.onnx.export.test_export import drawn, outputs
from tests.models.onnx.running import imported


def exported(name):
    module = ir.parse(PROGRAMS[name][0])
    return module, model_proto(module)


def changed(model, key, **members):
    """The model with other members of an entry."""
    (entry,) = [each for each in model.metadata_props if each.key == key]
    entry.value = json.dumps({**json.loads(entry.value), **members})
    return model.SerializeToString()


def rules(module):
    return {op.attributes["requant"].python for op in module.operation.walk() if "requant" in op.attributes}


def test_rules_stand_in_the_metadata():
    _, model = exported("add")
    said = {each.key: each.value for each in model.metadata_props}
    assert said["qrt.version"] == "1"
    assert said["qrt.port.a"] == "!quant.uniform<i8:f32, 5.000000e-02:3>"
    entry = json.loads(said["qrt.op.add"])
    assert (entry["op"], entry["attributes"]) == ("qrt.add", {"requant": "scaled20"})
    assert [each["name"] for each in (*entry["operands"], *entry["results"])] == ["a", "b", "out"]


def test_a_node_that_was_changed_is_imported_as_any_other():
    """The model is read as ONNX Runtime computes it."""
    _, model = exported("add")
    assert rules(imported(model.SerializeToString())) == {"scaled20"}
    for node in model.graph.node:
        if node.op_type == "Add":
            node.op_type = "Sub"
    found = imported(model.SerializeToString())
    assert "qrt.add" not in {op.name for op in found.operation.walk()}
    assert "scaled20" not in rules(found)


def test_what_another_node_reads_is_no_part_of_a_group():
    module, model = exported("add")
    inner = next(node for node in model.graph.node if node.op_type == "Add").output[0]
    model.graph.node.append(onnx.helper.make_node("Abs", [inner], ["tapped"]))
    model.graph.output.append(onnx.helper.make_tensor_value_info("tapped", onnx.TensorProto.FLOAT, [2, 5, 4]))
    assert "scaled20" not in rules(imported(model.SerializeToString()))
    assert rules(module) == {"scaled20"}


def test_weights_are_those_of_the_graph():
    module, model = exported("conv2d")
    (w,) = [each for each in model.graph.initializer if each.name.endswith("/w")]
    array = onnx.numpy_helper.to_array(w)
    w.CopyFrom(onnx.numpy_helper.from_array((array // 2).astype(np.int8), w.name))
    (x,) = drawn(module, 0)
    assert (outputs(imported(model.SerializeToString()), [x])[0] != outputs(module, [x])[0]).any()


def test_another_version_is_not_read():
    _, model = exported("add")
    next(each for each in model.metadata_props if each.key == "qrt.version").value = "2"
    assert "scaled20" not in rules(imported(model.SerializeToString()))


WRONG = {
    "an op that there is not": ({"op": "qrt.nothing"}, "'op' must be the name of an op of qrt, got 'qrt.nothing'"),
    "an op of another dialect": ({"op": "scf.if"}, "'op' must be the name of an op of qrt, got 'scf.if'"),
    "no op": ({"op": 3}, r"it must be an object with the name of an op \('op'\)"),
    "no operands": ({"operands": 3}, "'operands' must be a list"),
    "an operand that is a number": ({"operands": [1]}, "a tensor must be an object, got 1"),
    "an operand without a name": ({"operands": [{}]}, "'name' of a tensor must be text, got None"),
    "no results": ({"results": []}, "'results' must be one or more tensors without elements"),
    "a type that is none": ({"results": [{"name": "out", "type": "i"}]}, "error: "),
    "an order that is none": (
        {"results": [{"name": "out", "order": [0, 0, 1]}]},
        r"'order' of a tensor must be a permutation of its axes, got \[0, 0, 1\]",
    ),
    "an order of text": (
        {"results": [{"name": "out", "order": "abc"}]},
        "'order' of a tensor must be a permutation of its axes, got 'abc'",
    ),
    "attributes in a list": ({"attributes": [1]}, r"'attributes' must be an object, got \[1\]"),
    "an attribute that is a mapping": ({"attributes": {"requant": {}}}, r"a list of these, got \{\}"),
    "an attribute too large": ({"attributes": {"requant": 1 << 70}}, "a list of these, got 1180591620717411303424"),
    "a rule that there is not": ({"attributes": {"requant": "mine"}}, "requant"),
    "an attribute of another op": ({"attributes": {"strides": [1, 1]}}, "add: no attribute is named 'strides'"),
    "an order of other axes": (
        {"results": [{"name": "out", "order": [1, 0]}]},
        r"order \[1, 0\] of tensor 'out' must name each of its",
    ),
    "another number of operands": ({"op": "qrt.clamp"}, "clamp: no attribute is named 'requant'"),
    "another number of results": ({"op": "qrt.lookup"}, ""),
    "a type of the result": ({"results": [{"name": "out", "type": "f32"}]}, "add"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_entry_is_an_error_that_names_it(name):
    members, message = WRONG[name]
    _, model = exported("add")
    with pytest.raises(ModelError, match=f"<bytes>: metadata 'qrt.op.add': .*{message}"):
        imported(changed(model, "qrt.op.add", **members))


@pytest.mark.parametrize("text", ["", "{", "[" * 5000, "null", "3", '"x"', "[]"])
def test_an_entry_that_is_no_mapping_is_an_error(text):
    _, model = exported("add")
    next(each for each in model.metadata_props if each.key == "qrt.op.add").value = text
    with pytest.raises(ModelError, match=r"metadata 'qrt\.op\.add': it must be (JSON, but|an object with)"):
        imported(model.SerializeToString())


@pytest.mark.parametrize("elements", [[300] * 256, [1] * 255, [], [0.5], ["a"], [1] * 70000, 3])
def test_a_wrong_table_is_an_error(elements):
    _, model = exported("lookup of a known function")
    text = "!quant.uniform<i8:f32, 6.250000e-02>"
    (entry,) = [each for each in model.metadata_props if each.key == "qrt.op.lookup"]
    operands = [json.loads(entry.value)["operands"][0], {"elements": elements, "type": text}]
    with pytest.raises(ModelError, match=r"metadata 'qrt.op.lookup'"):
        imported(changed(model, "qrt.op.lookup", operands=operands))


@pytest.mark.parametrize("text", ["f32", "!quant.uniform<u8:f32, 0.5>", "!quant.uniform<i16:f32, 0.5>", "?", ""])
def test_a_wrong_type_of_a_port_is_an_error(text):
    _, model = exported("add")
    next(each for each in model.metadata_props if each.key == "qrt.port.a").value = text
    with pytest.raises(ModelError, match=r"metadata 'qrt.port.a'"):
        imported(model.SerializeToString())


def test_exported_files_are_loaded(tmp_path):
    module = ir.parse(PROGRAMS["conv2d"][0])
    qrt.models.export_onnx(tmp_path / "m.onnx", module)
    (x,) = drawn(module, 5)
    np.testing.assert_array_equal(outputs(qrt.load(tmp_path / "m.onnx"), [x])[0], outputs(module, [x])[0])
