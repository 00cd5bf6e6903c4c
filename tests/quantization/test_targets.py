"""Targets as TOML and by name. Hazards: a key or a storage that is misspelled and silently ignored, a message that does
not say where, a signature whose ports are in another order."""

import sys
from dataclasses import replace
from importlib.metadata import EntryPoint

import pytest

import qrt
from qrt import registry
from qrt.errors import ModelError, QuantError, QuantTypeError
from qrt.quantization import targets
from qrt.quantization.targets import Target, TargetKernel, TargetPort
from qrt.quantization.targets.model import read_target
from qrt.quantization.targets.registry import TARGETS
from tests.registries import restored_registries

RFC = """
[[kernel]]
name = "conv2d"
constraint = "multiplier_accumulator_scale"
ports = {x = "i8", w = "i8<-127:127> axis=0 symmetric", b = "i32", y = "*"}
default = {y = "i8"}
"""


@pytest.fixture(autouse=True)
def _forget():
    with restored_registries():
        yield


def test_a_table_is_a_signature():
    (kernel,) = read_target(RFC, "f.toml", "f").kernels
    assert kernel == TargetKernel(
        "conv2d",
        (TargetPort("x", "i8"), TargetPort("w", "i8", -127, 127, axis=0, symmetric=True), TargetPort("b", "i32")),
        (TargetPort("y", "*"),),
        "multiplier_accumulator_scale",
        default={"y": TargetPort("y", "i8")},
    )
    assert kernel.ports(3, 1) == (kernel.inputs, kernel.outputs)
    assert kernel.ports(2, 1) is None


def test_ports_may_be_absent_or_of_any_number():
    text = '[[kernel]]\nname = "k"\nports = {a = "i8", "b?" = "i8", "c?" = "i8", y = "i8"}'
    (kernel,) = read_target(text, "f.toml", "f").kernels
    assert [kernel.ports(count, 1) is not None for count in range(5)] == [False, True, True, True, False]
    (concat,) = read_target(text.replace('"b?" = "i8", "c?"', '"c*"'), "f.toml", "f").kernels
    matched = concat.ports(4, 1)
    assert matched is not None
    assert [port.name for port in matched[0]] == ["a", "c", "c", "c"]


def test_lists_are_choices_in_order_and_go_together_under_same_scale():
    text = '[[kernel]]\nname = "k"\nconstraint = "free"\nports = {a = ["i8", "u8"], b = ["i4", "i8"], y = "*"}'
    found = [tuple(port.storage for port in kernel.inputs) for kernel in read_target(text, "f", "f").kernels]
    assert found == [("i8", "i4"), ("i8", "i8"), ("u8", "i4"), ("u8", "i8")]
    together = text.replace('"free"', '"same_scale"').replace('"*"', '["i8", "u8"]')
    found = [
        tuple(port.storage for port in (*kernel.inputs, *kernel.outputs))
        for kernel in read_target(together, "f", "f").kernels
    ]
    assert found == [("i8", "i4", "i8"), ("u8", "i8", "u8")]
    with pytest.raises(ModelError, match="ports: with same_scale all lists must have the same number of storages"):
        read_target(together.replace('["i4", "i8"]', '["i4", "i8", "u8"]'), "f", "f")


def test_outputs_are_named_in_order():
    text = '[[kernel]]\nname = "split"\noutputs = ["v", "u"]\nports = {u = "i8", x = "i8", v = "i16"}'
    (kernel,) = read_target(text, "f", "f").kernels
    assert [port.name for port in (*kernel.inputs, *kernel.outputs)] == ["x", "v", "u"]


WRONG = {
    "no TOML": ("[[kernel]]", "[[kernel", ": not TOML:"),
    "a key of the file": ("\n[[kernel]]", "\nnames = 1\n[[kernel]]", "unknown key 'names': the keys are name, coarse"),
    "a key of a kernel": ("default", "defaults", r"number 1 \('conv2d'\): unknown key 'defaults': the keys are nam"),
    "the kind of a key": ('name = "conv2d"', "name = 3", "name must be text, got 3"),
    "no name": ('name = "conv2d"', "", r"\[\[kernel\]\] number 1: name must be given"),
    "no ports": ("ports =", "outputs = []\n#", "ports must be given"),
    "a constraint": ("multiplier_acc", "multiplier_ac", (
        "constraint must be one of free, same_scale.*got "
        "'multiplier_acumulator_scale'"
    )),
    "storage": ('x = "i8"', 'x = "i99"', "ports: 'x' is 'i99': storage must be .*i1 to i32.*got 'i99'"),
    "no storage": ('x = "i8"', 'x = ""', "ports: 'x' is '': expected a storage such as 'i8'"),
    "bounds": ("<-127:127>", "<-127:128>", "ports: 'w' .*bounds -127:128 of i8 must be ascending within -128:127"),
    "bounds of a wildcard": ('y = "*"', 'y = "*<0:1>"', "bounds and symmetric are for integer storage"),
    "an option": ("axis=0", "axes=0", "expected axis=0, blocks=0:32,1:1, layout=0,3,1,2 or symmetric, got 'axes=0'"),
    "two granularities": ("axis=0", "axis=0 blocks=0:32", "a port can have an axis or blocks, not both"),
    "empty blocks": ("axis=0", "blocks=0:0", "blocks must map non-negative axes to positive sizes"),
    "a float with an axis": ("i8<-127:127> axis=0 symmetric", "f32 axis=0", "axis and blocks are for integer storage"),
    "a port that is no text": ('x = "i8"', "x = 8", "ports: 'x' must be text such as 'i8' or '.', got 8"),
    "a port's name": ("x =", '"x y" =', "'x y' is not a valid port name"),
    "a default of no port": ("{y = \"i8\"}", "{z = \"i8\"}", "default names 'z', expected one of x, w, b, y"),
    "a default of a port with storage": ("{y = \"i8\"}", "{x = \"i8\"}", "'default' can be"),
    "a default that is none": ("{y = \"i8\"}", "{y = \"*\"}", "'default' can be given only for"),
    "an output": ("default", "outputs = ['z']\ndefault", "outputs names 'z', expected one of the ports x, w, b, y"),
    "no result": ("y = \"*\"", "z = \"*\"", "outputs names 'y'"),
    "constrained": ("default", "constrained = ['z']\ndefault", "constrained names 'z'"),
    "too few related": ("default", "constrained = ['x']\ndefault", "is for two factors, perhaps a bias, and one"),
    "a multiplier": ("default", "multiplier = [1]\ndefault", r"multiplier must be two numbers, got \[1\]"),
    "a multiplier past float64": ("default", f"multiplier = [0, 1{'0' * 400}]\ndefault", (
        "multiplier exceeds the range "
        "of float64: write inf"
    )),
    "a range": ("default", "multiplier = [2, 1]\ndefault", "range of positive numbers, got 2.0 to 1.0"),
    "a type": ('y = "*"', 'y = "!quant.any<i8:f32>"', "a UniformType"),
    "a text that is no type": ('y = "*"', 'y = "!quant.uniform<i8>"', "ports: 'y' is '!quant.uniform<i8>': "),
    "nothing given": ("multiplier_accumulator_scale", "fixed_scale", "the constraint fixed_scale needs a port"),
    "an optional port before others": ("x =", '"x?" =', "only the last"),
    "operations of no storage": (RFC, "[operations]", r"\[operations\]: 'activations' must be given"),
    "a key of operations": (RFC, "[operations]\nactivation = 'i8'", r"\[operations\]: unknown key 'activation'"),
    "a storage of operations": (
        RFC, "[operations]\nactivations = 'i99'", r"\[operations\] \('add'\): ports: 'a' is 'i99'"
    ),
    "operations without one that is unknown": (
        RFC, "[operations]\nactivations = 'i8'\nwithout = ['divide']", r"\[operations\]: 'without' must have names"
    ),
    "a default without wildcards": (
        RFC, "[operations]\nactivations = 'i8'\ndefault = 'i8'", r"\[operations\]: 'default' can be given only"
    ),
    "no kernel": (RFC, "coarser_bias = true", "a target needs at least one .*kernel.* table"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_with_the_table_and_the_key(case):
    old, new, message = WRONG[case]
    text = RFC.replace(old, new)
    assert text != RFC
    with pytest.raises(ModelError, match=message) as raised:
        read_target(text, "f.toml", "f")
    assert str(raised.value).startswith("f.toml: ")
    assert len(str(raised.value).splitlines()) <= 3
    assert len(str(raised.value)) < 600


def test_operations_have_the_ports_that_they_declare():
    text = "[operations]\nactivations = ['i16', 'u8']\nweights = 'i4<-7:7> symmetric'\nwithout = ['div']\n" + RFC
    target = read_target(text, "f.toml", "f")
    assert not target.signatures("div")
    assert len(target.signatures("conv2d")) == 1  # its own table
    wide, narrow = target.signatures("matmul")[:2]
    assert [port.storage for port in wide.inputs] == ["i16", "i4", "i32"]
    assert (wide.inputs[1].axis, wide.inputs[1].symmetric, wide.inputs[2].axis) == (-1, True, 0)
    assert [port.storage for port in (*narrow.inputs, *narrow.outputs)] == ["i16", "i4", "i32", "u8"]
    maxima = [
        (kernel.constraint, kernel.inputs[1].storage, kernel.outputs[0].storage)
        for kernel in target.signatures("maximum")
    ]
    assert maxima == [("same_scale", "i16", "i16"), ("same_scale", "u8", "u8")]
    assert {kernel.inputs[0].storage for kernel in target.signatures("lookup")} == {"u8"}  # a table has 8 bits
    assert target.signatures("add")[0].multiplier == (0, 1 << 24)
    only = read_target("[operations]\nactivations = 'i16'", "f.toml", "f")
    assert [kernel.inputs[0].storage for kernel in only.signatures("softmax")] == ["i8"]


def test_a_file_is_a_target(tmp_path):
    path = tmp_path / "npu.toml"
    path.write_text("coarser_bias = true\n" + RFC)
    found = targets.find(str(path))
    assert (found.name, found.coarser_bias, len(found.kernels)) == ("npu", True, 1)
    with pytest.raises(QuantError, match=r"absent.toml: No such file"):
        targets.find(str(tmp_path / "absent.toml"))


def test_a_name_that_is_unknown_lists_those_that_are_known():
    with pytest.raises(
        QuantError, match=r"no target 'qrt': .*There are bf16, int16x8, int4-weights, qrt-cpu, tflite.*ends in .toml"
    ):
        targets.find("qrt")
    with pytest.raises(QuantTypeError, match="a target's name must be text"):
        targets.find(3)


def test_a_registered_target_is_found_and_does_not_hide_one_of_qrt():
    mine = replace(targets.find("tflite"), name="mine")
    targets.register_target(mine)
    assert targets.find("mine") is mine
    targets.register_target(replace(mine, coarser_bias=True))
    assert targets.find("mine").coarser_bias
    with pytest.raises(QuantError, match="a target named 'tflite' is registered already"):
        targets.register_target(targets.find("tflite"))


def test_an_entry_point_is_found(monkeypatch, tmp_path):
    (tmp_path / "outer_npu.py").write_text(
        "from qrt.quantization.targets import find\nTARGET = find('tflite')\nNONE = 3\n"
    )
    info = tmp_path / "outer-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outer\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[qrt.targets]\nouter = outer_npu:TARGET\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert "outer" in TARGETS
    assert targets.find("outer") is targets.find("tflite")
    sys.modules.pop("outer_npu", None)
    broken = {"outer": EntryPoint("outer", "outer_npu:NONE", "qrt.quantization.targets")}
    del TARGETS._entries["outer"]
    monkeypatch.setattr(registry, "installed", lambda group: broken)
    with pytest.raises(
        QuantError, match=r"the target 'outer' cannot be loaded from the entry point outer_npu:NONE: .*a Target, got 3"
    ):
        targets.find("outer")
    monkeypatch.undo()


def test_a_target_in_python_is_checked_as_one_in_text():
    with pytest.raises(QuantTypeError, match=r"must be a function or one of"):
        TargetKernel("k", (TargetPort("x", "i8"),), (TargetPort("y", "i8"),), "same")
    with pytest.raises(QuantTypeError, match="must have different names, but two have the same"):
        TargetKernel("k", (TargetPort("x", "i8"),), (TargetPort("x", "i8"),))
    with pytest.raises(QuantTypeError, match="a Target"):
        targets.register_target("tflite")
    assert (
        TargetKernel("k", (TargetPort("x"),), (TargetPort("y"),), lambda inputs, outputs: ([], [])).constraint
        is not None
    )


def test_an_axis_from_the_end_is_never_the_first():
    from_end, from_start = TargetPort("w", "i8", axis=-1), TargetPort("w", "i8", axis=1)
    assert [from_end.axis_of(rank) for rank in range(5)] == [None, None, 1, 2, 3]
    assert [from_start.axis_of(rank) for rank in range(4)] == [None, None, 1, 1]


def test_own_targets_have_the_ports_that_were_asked_for():
    tflite = targets.find("tflite")
    assert {str(tflite.signatures(name)[0].outputs[0].given) for name in ("softmax", "logistic")} == {
        "!quant.uniform<i8:f32, 3.906250e-03:-128>"
    }
    assert tflite.signatures("concat")[0].constraint == "same_scale"
    assert targets.find("qrt-cpu").signatures("concat")[0].constraint == "free"
    blocks = targets.find("int4-weights").signatures("matmul")[0].inputs[1]
    assert (blocks.storage, blocks.blocks) == ("i4", {0: 32, 1: 1})
    assert all(
        port.storage == "bf16" for kernel in targets.find("bf16").kernels for port in (*kernel.inputs, *kernel.outputs)
    )
    assert {kernel.name for kernel in targets.find("weight-only").kernels} == {"float_matmul"}
    assert isinstance(tflite, Target)
    assert qrt.quantization.targets is targets
