"""A target of one's own, from a file to a report. Hazards: a kernel that is added and not found, one that changes the
target of everybody, a program that cannot be explained for the target that it was made for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qrt
from qrt.cli import main
from qrt.errors import ModelError, QuantError, QuantTypeError
from qrt.quantization.targets import Target, find
from qrt.quantization.targets.registry import TARGETS
from qrt.types import UniformType
from tests.quantization.workflow.programs import NETWORK, rows
from tests.registries import restored_registries

GATED = NETWORK.replace(
    "  %1 = math.tanh %0 : tensor<?x8xf32>",
    """  %g = "quant.stats_ref"(%0) {statsKey = "main/conv2"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = func.call @gate(%g, %g) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>""",
).replace(
    "\nfunc.func @main",
    """
func.func private @gate(%a: tensor<?x8xf32>, %b: tensor<?x8xf32>) -> tensor<?x8xf32>
    attributes {quant.kernel = "mine.gate"} {
  %half = arith.constant dense<0.5> : tensor<1x8xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %k = arith.constant 0.5 : f32
    %p = arith.mulf %x, %k : f32
    %q = arith.addf %p, %y : f32
    linalg.yield %q : f32
  } -> tensor<?x8xf32>
  return %h : tensor<?x8xf32>
}
func.func @main""",
)
MINE = """
[[kernel]]
name = "matmul"
constraint = "multiplier_accumulator_scale"
constrained = ["a", "w", "y"]
ports = {a = "i8", w = "i8<-127:127> symmetric", y = "i8"}
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(MINE)
    Path("F.mlir").write_text(GATED)
    with restored_registries():
        yield


def test_the_whole_way() -> None:
    asked = []

    def constraint(inputs: list[Any], outputs: list[Any]) -> tuple[list[int], list[int]]:
        asked.append((len(inputs), len(outputs)))
        if not isinstance(inputs[0], UniformType):
            return [], []
        before, outputs[0] = outputs[0], inputs[0].with_(scales=inputs[0].scale * 2)
        return [], [] if outputs[0] is before else [0]

    t = qrt.quantization.targets.Target.load("mine.toml")
    t.kernel("mine.gate", ports={"a": "i8", "b": "i8", "y": "i8"}, constraint=constraint)
    batches = [rows(20), rows(7, 1)]
    result = qrt.quantize_program(qrt.load("F.mlir"), {"images": batches}, target=t, method="minmax")
    assert set(asked) == {(2, 1)}
    made = result.program(rows(5, 2))
    expected = qrt.compile(qrt.load("F.mlir"))(rows(5, 2))
    assert qrt.metrics.snr(expected, made) == pytest.approx(30, abs=5)
    assert result.report["conv2"].kernel == "matmul"
    assert 30 < result.report["conv2"].snr < 60
    gate = result.report["mine.gate.0"]
    assert [port.name for port in gate.ports] == ["a", "b", "y"]
    assert gate.ports[2].scale == 2 * gate.ports[0].scale == 2 * result.report["conv2"].ports[2].scale
    assert gate.ports[2].origin == "constraint"
    text = str(result.module)
    assert "mine.gate" in text
    assert "func.call" not in text
    assert list(qrt.quantization.explain_program(qrt.ir.parse(text), qrt.load("F.mlir"), {"images": batches})) == list(
        result.report
    )


def test_a_file_is_a_target_for_explain_too(capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("x.npz", images=rows(30))
    Path("f.mlir").write_text(NETWORK)
    assert main(["quantize", "f.mlir", "--data", "x.npz", "--target", "mine.toml", "-o", "q.mlir"]) == 0
    del TARGETS._entries["mine"]  # another process
    command = ["explain", "q.mlir", "--against", "f.mlir", "--data", "x.npz"]
    capsys.readouterr()
    assert main(command) == 1
    first = capsys.readouterr().err.splitlines()[0]
    said = "the program was made for 'mine', which is not a registered target: give its file (--target)"
    assert first == f"error: q.mlir: {said}"
    assert main([*command, "--target", "mine.toml"]) == 0
    assert "main on mine" in capsys.readouterr().out


def test_a_kernel_is_added_to_one_target() -> None:
    one, other = Target.load("mine.toml"), Target.load("mine.toml")
    assert not one.signatures("g")  # before: what is kept by name is not used again
    one.kernel("g", {"x": ["i8", "u8"], "y": "i8<-127:127>"}, constraint="same_scale")
    assert [kernel.inputs[0].storage for kernel in one.signatures("g")] == ["i8", "u8"]
    assert one.signatures("g")[0].outputs[0].low == -127
    one.kernel("h", {"x": "i8", "p": "i8", "q": "i8"}, outputs=["q", "p"])
    assert [port.name for port in one.signatures("h")[0].outputs] == ["q", "p"]
    assert not other.signatures("g")
    with pytest.raises(QuantError, match=r"'qrt-cpu' is built into qrt.*Target\('mine', find\('qrt-cpu'\)\.kernels\)"):
        find("qrt-cpu").kernel("g", {"x": "i8", "y": "i8"})
    assert not find("qrt-cpu").signatures("g")
    Target("mine", find("qrt-cpu").kernels).kernel("g", {"x": "i8", "y": "i8"})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"ports": {"x": "i9", "z": "i8"}}, "'mine.gate': outputs names 'y', expected one of the ports x, z"),
        ({"ports": {"x": "i99", "y": "i8"}}, "'mine.gate': ports: 'x' is 'i99'"),
        ({"ports": {"x": 8, "y": "i8"}}, "ports: 'x' must be text such as 'i8'"),
        ({"ports": {"x": (8,), "y": "i8"}}, "ports: 'x' must be text such as 'i8'"),
        ({"ports": {}}, "'mine.gate': ports must be given"),
        ({"constraint": "samescale"}, "constraint must be one of free, same_scale.*got 'samescale'"),
        ({"constraint": None}, "constraint must be a name, a function or a sequence of these, got None"),
        ({"constraint": ("free", 3)}, "constraint must be one of free, same_scale.*got 3"),
        ({"pattern": "conv9"}, "pattern must be the name of a kernel of qrt, got 'conv9'"),
        ({"ports": {"x": "i8 layout=0,2", "y": "i8"}}, "layout .* must name each axis once"),
        ({"default": {"w": "i8"}}, "default names 'w'"),
        ({"multiplier": (1.0,)}, "multiplier must be two numbers"),
    ],
)
def test_what_is_no_kernel_is_refused(arguments: Any, said: str) -> None:
    target = Target.load("mine.toml")
    before = target.kernels
    with pytest.raises(QuantTypeError, match=said.replace("(", r"\(")):
        target.kernel(**{"name": "mine.gate", "ports": {"x": "i8", "y": "i8"}} | arguments)
    assert target.kernels == before


def test_a_path_is_one_of_a_file() -> None:
    with pytest.raises(qrt.errors.FileError, match=r"none\.toml"):
        Target.load(Path("none.toml"))
    with pytest.raises(QuantTypeError, match="the path of a file"):
        Target.load(3)  # type: ignore[arg-type]
    Path("bad.toml").write_text(MINE + "colour = 1")
    with pytest.raises(ModelError, match=r"bad\.toml: \[\[kernel\]\] number 1 .* unknown key 'colour'"):
        Target.load(Path("bad.toml"))
