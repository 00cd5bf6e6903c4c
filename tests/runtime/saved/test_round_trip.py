"""A saved program gives the bits of the program that was saved."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import qrt
from qrt import kernels
from qrt._ext.kernels import bind_float_matmul
from qrt.runtime.saved.values import decode, encode
from tests.ir.passes.lower_qrt.compare import DrawnProgram
from tests.ir.passes.lower_qrt.draw_ops import DRAWS
from tests.ir.passes.lower_qrt.draw_types import OpDraw
from tests.models.tflite.oracle import MODELS
from tests.runtime.saved.samples import CONTROL, OPEN, STATE, TEXTS, check, inputs_of, same, source_of

MODEL_FILES = sorted(MODELS.glob("tflite/*.tflite"))
INTERPRETED = ("kws_ref_model_float32", "pretrainedResnet")
"""Float models, some of whose steps no kernel runs: they are planned again from the text."""
FEW = tuple(dict.fromkeys((kernels.available()[-1], *kernels.available()[1:2])))
"""The best ISA, and one for which weights are packed again."""


@pytest.mark.parametrize("name", TEXTS)
def test_programs_on_every_isa(name: str, tmp_path: Path) -> None:
    program = qrt.compile(TEXTS[name])
    check(program, tmp_path / "p.qrt", kernels.available(), (1, 3) if "?" in TEXTS[name] else (1,))


@pytest.mark.parametrize("name", sorted(DRAWS))
def test_drawn_programs(name: str, tmp_path: Path) -> None:
    compared = 0
    for number in range(12):
        drawn = DrawnProgram.of(OpDraw(f"{name} {number}"), name)
        try:
            program = qrt.compile(drawn.text())
            inputs = {port.name: drawn.op.arrays[i] for port, i in zip(program.inputs, drawn.given, strict=True)}
            wanted = program.run(inputs)
        except qrt.QuantError:
            continue  # it is refused
        program.save(tmp_path / "p.qrt")
        for isa in FEW:
            with kernels.use(isa):
                assert same(qrt.load_program(tmp_path / "p.qrt").run(inputs), wanted)
        compared += 1
    assert compared >= 3


@pytest.mark.skipif(not MODEL_FILES, reason="the folder of models is absent")
@pytest.mark.parametrize("file", MODEL_FILES, ids=lambda file: file.stem)
def test_models(file: Path, tmp_path: Path) -> None:
    program = qrt.compile(qrt.load(file))
    check(program, tmp_path / "p.qrt", FEW)
    if file.stem not in INTERPRETED:
        assert source_of(qrt.load_program(tmp_path / "p.qrt"))._index["plans"], "every step is a kernel"


def test_packed_weights_are_those_of_the_file(tmp_path: Path) -> None:
    program = qrt.compile(OPEN)
    program.save(tmp_path / "p.qrt")
    loaded = qrt.load_program(tmp_path / "p.qrt")
    (saved,) = source_of(loaded)._index["plans"]
    (packed,) = [each for each in saved["packed"] if each is not None]
    begin = np.frombuffer(source_of(loaded)._memory, np.uint8).ctypes.data
    assert begin <= packed.ctypes.data < begin + len(source_of(loaded)._memory)
    (gemm,) = [call for call in loaded._plan_of({}).executable.calls if call.packed is not None]
    assert np.array_equal(gemm.packed, packed)


def test_weights_that_calls_pack_anew_are_read_from_the_file(tmp_path: Path) -> None:
    """Those of blocks of one value would take eight times their memory as they are packed."""
    t = qrt.UniformType("i8", "f32", np.random.default_rng(0).random((320, 70)) + 0.1, block_sizes={0: 1, 1: 1})
    check_float_product(t, tmp_path / "p.qrt", is_packed=False)


@pytest.mark.parametrize("points", [None, [7] * 320, [k % 5 for k in range(320)]], ids=["none", "alike", "different"])
@pytest.mark.parametrize("storage", ["i4", "i8"])
def test_weights_with_scales_along_k_are_packed_in_the_file(
    storage: str, points: list[int] | None, tmp_path: Path
) -> None:
    """Their scales and zero points are no part of what is packed."""
    scales = (np.random.default_rng(0).random(320) + 0.1).tolist()
    check_float_product(qrt.UniformType(storage, "f32", scales, points, axis=0), tmp_path / "p.qrt", is_packed=True)


def check_float_product(t: qrt.UniformType, file: Path, *, is_packed: bool) -> None:
    rng, (depth, columns) = np.random.default_rng(1), (320, 70)
    q = rng.integers(t.storage_min, t.storage_max, (depth, columns), np.int8, endpoint=True)
    storage = q.tolist() if t.storage_width < 8 else f'"0x{q.tobytes().hex()}"'
    w, a, y = f"tensor<{depth}x{columns}x{t}>", f"tensor<?x{depth}xf32>", f"tensor<?x{columns}xf32>"
    program = qrt.compile(f"""func.func @f(%a: {a}) -> {y} {{
      %0 = arith.constant dense<{storage}> : tensor<{depth}x{columns}x{t.storage}>
      %w = quant.scast %0 : tensor<{depth}x{columns}x{t.storage}> to {w}
      %y = qrt.float_matmul %a, %w : ({a}, {w}) -> {y}
      return %y : {y}
    }}""")
    x = rng.standard_normal((3, depth), np.float32)
    wanted = program(x)
    np.testing.assert_array_equal(wanted, qrt.float_matmul(x, qrt.QuantTensor(q, t)))
    for isa in kernels.available():
        with kernels.use(isa):
            program.save(file)
            loaded = qrt.load_program(file)
            (packed,) = source_of(loaded)._index["plans"][0]["packed"]
            assert (packed is not None) == is_packed
            assert np.array_equal(loaded(x), wanted)


@pytest.mark.parametrize("storage", ["i8", "i16", "u16"])
def test_weights_that_several_calls_share_are_whole_in_each(storage: str, tmp_path: Path) -> None:
    """Calls by the bytes of 16-bit operands use the panels of one another, and each is read back by itself."""
    rng, (depth, columns) = np.random.default_rng(0), (70, 40)
    t, dtype = qrt.UniformType(storage, "f32", 0.5), np.dtype(storage.replace("u", "ui").replace("i", "int"))
    values = rng.integers(t.storage_min, t.storage_max, (depth, columns), dtype, endpoint=True)
    w, y = f"tensor<{depth}x{columns}x{t}>", f"tensor<3x{columns}x!quant.uniform<i32:f32, 64.0>>"
    kinds = [f"tensor<3x{depth}x!quant.uniform<{kind}:f32, 0.5>>" for kind in ("i8", "i16", "u16")]
    products = "\n".join(f"%y{i} = qrt.matmul %a{i}, %w : ({kind}, {w}) -> {y}" for i, kind in enumerate(kinds))
    program = qrt.compile(f"""func.func @f(%a0: {kinds[0]}, %a1: {kinds[1]}, %a2: {kinds[2]}) -> ({y}, {y}, {y}) {{
      %0 = arith.constant dense<"0x{values.tobytes().hex()}"> : tensor<{depth}x{columns}xi{dtype.itemsize * 8}>
      %w = quant.scast %0 : tensor<{depth}x{columns}xi{dtype.itemsize * 8}> to {w}
      {products}
      return %y0, %y1, %y2 : {y}, {y}, {y}
    }}""")
    arguments = [
        qrt.QuantTensor(rng.integers(0, 100, (3, depth)), kind[len(f"tensor<3x{depth}x") : -1]) for kind in kinds
    ]
    wanted = [qrt.matmul(a, qrt.QuantTensor(values, t), out_type="!quant.uniform<i32:f32, 64.0>") for a in arguments]
    for isa in kernels.available():
        with kernels.use(isa):
            program.save(tmp_path / "p.qrt")
            loaded = qrt.load_program(tmp_path / "p.qrt")
            for results in (program(*arguments), loaded(*arguments)):
                assert all(result.equals(other) for result, other in zip(results, wanted, strict=True))


def test_wrong_packed_weights_are_refused() -> None:
    w = np.arange(40, dtype=np.float32).reshape(8, 5)
    isa = kernels.active()
    packed = bind_float_matmul(isa=isa, m=2, n=5, k=8, w_constant=w).packed
    assert packed is not None
    room = np.zeros(packed.size + 128, np.uint8)
    start = -room.ctypes.data % 64
    aligned = room[start : start + packed.size]
    aligned[:] = packed
    call = bind_float_matmul(isa=isa, m=2, n=5, k=8, w_constant=w, stored=aligned)
    out = np.empty((2, 5), np.float32)
    call(np.ones((2, 8), np.float32), out)
    assert out.tolist() == [w.sum(0).tolist()] * 2
    for wrong, said in (
        (aligned[:-64], "stored must have 0 bytes"),
        (room[start : start + packed.size + 64], "stored must have"),
        (room[start + 1 : start + 1 + packed.size], "must be aligned"),
        (aligned.view(np.int8), "array of uint8"),
    ):
        with pytest.raises(qrt.errors.KernelError, match=said):
            bind_float_matmul(isa=isa, m=2, n=5, k=8, w_constant=w, stored=wrong)


def test_shapes_without_a_plan_are_planned_from_the_text(tmp_path: Path) -> None:
    program = qrt.compile(OPEN)
    program.run(inputs_of(program, size=4))
    program.run(inputs_of(program, size=7))
    program.save(tmp_path / "p.qrt")
    loaded = qrt.load_program(tmp_path / "p.qrt")
    assert [said["types"] for said in source_of(loaded)._index["plans"]] == [
        (str(qrt.TensorType((rows, 8), program.inputs[0].type.element)),) for rows in (4, 7)
    ]
    for size in (7, 4):
        assert same(loaded.run(inputs_of(program, size=size)), program.run(inputs_of(program, size=size)))
    assert "_module_source" not in vars(source_of(loaded)), "nothing was read of the text"
    assert same(loaded.run(inputs_of(program, size=5)), program.run(inputs_of(program, size=5)))
    assert "_module_source" in vars(source_of(loaded))


def test_state_reset_clone_and_threads(tmp_path: Path) -> None:
    program = qrt.compile(STATE, "main")
    x = np.int8([1, -2, 3])
    program(x)  # what is saved begins with the initial values all the same
    program.save(tmp_path / "p.qrt")
    program.reset()
    wanted = [program(x)[0].storage.tolist() for _ in range(40)]
    loaded = qrt.load_program(tmp_path / "p.qrt")
    assert [loaded(x)[0].storage.tolist() for _ in range(40)] == wanted
    clones = [loaded.clone() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda clone: [clone(x)[0].storage.tolist() for _ in range(40)], clones))
    assert found == [wanted] * 4
    loaded.reset()
    assert loaded(x)[0].storage.tolist() == wanted[0]


def test_another_function_of_a_module(tmp_path: Path) -> None:
    qrt.compile(STATE, "other").save(tmp_path / "p.qrt")
    loaded = qrt.load_program(tmp_path / "p.qrt")
    assert loaded.name == "other"
    assert loaded(np.int8([1, 2, 3])).storage.tolist() == [0, 0, 0]


def test_what_the_text_says_is_there_too(tmp_path: Path) -> None:
    program = qrt.compile(TEXTS["everything"])
    program.save(tmp_path / "p.qrt")
    loaded = qrt.load_program(tmp_path / "p.qrt")
    inputs = inputs_of(program)
    assert same(loaded.run(inputs, interpret=True), program.run(inputs))
    assert [(c.op, c.engine, c.detail) for c in loaded.coverage()] == [
        (c.op, c.engine, c.detail) for c in program.coverage()
    ]
    assert loaded.memory() == program.memory()
    assert [step.name for step in loaded.timings(inputs)] == [step.name for step in program.timings(inputs)]
    first, *_ = loaded.plan_text(inputs).splitlines()
    assert first == program.plan_text(inputs).splitlines()[0]
    assert same(pickle.loads(pickle.dumps(loaded)).run(inputs), program.run(inputs))
    bound = loaded.bind(inputs)
    bound()
    assert {name: array.tolist() for name, array in bound.outputs.items()} == {
        name: np.asarray(getattr(value, "storage", value)).tolist() for name, value in program.run(inputs).items()
    }


def test_a_loaded_program_is_saved_again(tmp_path: Path) -> None:
    program = qrt.compile(OPEN)
    program.save(tmp_path / "p.qrt")
    loaded = qrt.load_program(tmp_path / "p.qrt")
    loaded.save(tmp_path / "q.qrt")
    loaded.save(tmp_path / "p.qrt")  # the file that it is mapped from
    assert same(loaded.run(inputs_of(program)), program.run(inputs_of(program)))
    for name in ("p.qrt", "q.qrt"):
        assert same(qrt.load_program(tmp_path / name).run(inputs_of(program)), program.run(inputs_of(program)))


def test_the_same_program_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        qrt.compile(TEXTS["everything"]).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_saturating_stays(tmp_path: Path) -> None:
    text = "func.func @f(%x: tensor<1xf32>) -> tensor<1xi8> { %0 = arith.fptosi %x : tensor<1xf32> to tensor<1xi8> return %0 : tensor<1xi8> }"  # noqa: E501
    qrt.compile(text, saturating=True).save(tmp_path / "p.qrt")
    assert qrt.load_program(tmp_path / "p.qrt")(np.float32([1e9])).tolist() == [127]


def test_control_flow_runs_as_it_did(tmp_path: Path) -> None:
    program = qrt.compile(qrt.ir.parse(CONTROL))
    program.save(tmp_path / "p.qrt")
    loaded = qrt.load_program(tmp_path / "p.qrt")
    for n in (0, 1, 5):
        x = np.float32([1, 2, 3, -4])
        assert loaded(x, np.int32(n)).tolist() == program(x, np.int32(n)).tolist()


def test_another_process_on_another_isa(tmp_path: Path) -> None:
    program = qrt.compile(OPEN)
    program.save(tmp_path / "p.qrt")
    np.save(tmp_path / "x.npy", inputs_of(program)["x"])
    wanted = program.run(inputs_of(program))["result0"].storage.tolist()
    code = "import numpy, qrt, sys; print(qrt.load_program('p.qrt')(numpy.load('x.npy')).storage.tolist())"
    for isa in kernels.available():
        environment = {**os.environ, "QRT_ISA": isa}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
        )
        assert done.stdout.strip() == str(wanted)


def test_loading_neither_reads_text_nor_plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise AssertionError("a saved program is made again")

    program = qrt.compile(OPEN)
    wanted = program.run(inputs_of(program))["result0"].storage
    program.save(tmp_path / "p.qrt")
    for place in ("build", "prepared", "module_of"):
        monkeypatch.setattr(f"qrt.runtime.module_source.{place}", fail)
    assert np.array_equal(qrt.load_program(tmp_path / "p.qrt").run(inputs_of(program))["result0"].storage, wanted)


def test_dtypes_of_small_floats(tmp_path: Path) -> None:
    """NumPy's short name of bfloat16 is that of two bytes of anything."""
    program = qrt.compile("""func.func @f(%x: tensor<3xbf16>) -> tensor<3xbf16> {
      %q = quant.qcast %x : tensor<3xbf16> to tensor<3x!quant.uniform<i8:bf16, 0.5>>
      %y = quant.dcast %q : tensor<3x!quant.uniform<i8:bf16, 0.5>> to tensor<3xbf16>
      return %y : tensor<3xbf16>
    }""")
    program.save(tmp_path / "f.qrt")
    y = qrt.load_program(tmp_path / "f.qrt")(np.array([1, 2.3, -9], ml_dtypes.bfloat16))
    assert y.dtype == ml_dtypes.bfloat16
    assert y.tolist() == [1, 2.5, -9]


@pytest.mark.parametrize("name", ["bool", "int8", "uint16", "int32", "int64", "uint64", "float32", "float64"])
def test_an_array_has_the_dtype_that_numpy_has_by_its_name(name: str) -> None:
    """C has two integers of 64 bits. An array of the other one equals, and is bound by a slow conversion."""
    content = b"".ljust(16, b"\0")
    (found,) = decode(encode((np.zeros(2, name),), lambda _: 0), content)
    assert found.dtype.char == np.dtype(name).char
