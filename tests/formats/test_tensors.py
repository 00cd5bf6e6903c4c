"""Files of tensors. Hazards: a bit, a bound or a type that is lost between writing and reading; a file of somebody
else's that is not what it says; a mapped array that a kernel cannot read in place; a file that is half written."""

import json
import pickle
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrt
from tests.formats.drawn import tensors

FORMATS = [".npz", ".safetensors"]


@pytest.fixture(params=FORMATS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"t{request.param}"


@pytest.mark.parametrize("suffix", FORMATS)
@settings(max_examples=60, deadline=None)
@given(q=tensors(), mapped=st.booleans())
def test_a_tensor_comes_back_with_every_bit(
    suffix: str, q: qrt.QuantTensor, mapped: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("f") / f"q{suffix}"
    qrt.save_tensors(path, {"a/b.c": q, "second": q})
    loaded = qrt.load_tensors(path, mapped=mapped)
    assert set(loaded) == {"a/b.c", "second"}
    for r in loaded.values():
        assert isinstance(r, qrt.QuantTensor)
        assert r.type is q.type
        assert r.shape == q.shape
        assert r.storage.dtype == q.storage.dtype
        assert r.storage.tobytes() == q.storage.tobytes()
        assert r._data.flags.aligned


NUMPY = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", ">f4", ">i2"]
SMALL = ["bfloat16", "float8_e5m2", "float8_e4m3fn", "float8_e8m0fnu", "float4_e2m1fn"]


@pytest.mark.parametrize("dtype", [*NUMPY, *(getattr(ml_dtypes, name) for name in SMALL)], ids=str)
def test_arrays_stand_beside_tensors(path: Path, dtype: object) -> None:
    arrays = {
        "m": np.arange(6).reshape(2, 3).astype(dtype),
        "empty": np.empty((0, 2), dtype),
        "rank 0": np.ones((), dtype),
    }
    arrays["transposed"] = arrays["m"].T
    qrt.save_tensors(path, arrays)
    for name, loaded in qrt.load_tensors(path).items():
        assert isinstance(loaded, np.ndarray)
        assert loaded.shape == arrays[name].shape
        assert loaded.dtype == arrays[name].dtype.newbyteorder("=")
        assert loaded.tobytes() == arrays[name].astype(loaded.dtype).tobytes()


T = qrt.UniformType("i4", "f32", [0.5, 0.25], axis=1)
Q = qrt.quantize([[1.0, 0.5], [-2.0, 0.25], [0.0, -1.0]], T)


def test_numpy_reads_the_storage_and_the_type(tmp_path: Path) -> None:
    qrt.save_tensors(tmp_path / "t.npz", {"q": Q})
    with np.load(tmp_path / "t.npz") as file:
        assert file["q"].tobytes() == Q.packed.tobytes()
        assert qrt.parse_type(file["q.mlir"].decode()) == Q.tensor_type


def test_safetensors_reads_the_storage_and_the_type(tmp_path: Path) -> None:
    from safetensors import safe_open

    qrt.save_tensors(tmp_path / "t.safetensors", {"q": Q})
    with safe_open(tmp_path / "t.safetensors", "numpy") as file:
        assert file.get_tensor("q").tobytes() == Q.packed.tobytes()
        assert file.metadata() == {"qrt.type.q": str(Q.tensor_type)}


def test_a_mapped_tensor_lies_in_the_file_and_runs(path: Path) -> None:
    t = qrt.UniformType("i16", "f32", 0.5)
    q = qrt.QuantTensor(np.arange(300, dtype=np.int16).reshape(3, 100), t)
    qrt.save_tensors(path, {"a": Q, "q": q})
    loaded = qrt.load_tensors(path)["q"]
    assert isinstance(loaded, qrt.QuantTensor)
    base = loaded._data
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base  # type: ignore[assignment]
    assert isinstance(base, np.memmap), "the storage was copied"
    assert not loaded._data.flags.writeable
    assert qrt.relu(loaded).storage.tobytes() == qrt.relu(q).storage.tobytes()
    with pytest.raises(qrt.QuantTypeError, match="read-only"):
        qrt.relu(q, out=loaded)


def test_appending_keeps_what_is_there_and_maps_of_it(path: Path) -> None:
    qrt.save_tensors(path, {"a": Q})
    before = qrt.load_tensors(path)["a"]
    qrt.save_tensors(path, {"b": np.float32([1, 2])}, append=True)
    assert set(qrt.load_tensors(path)) == {"a", "b"}
    for q in (before, qrt.load_tensors(path)["a"]):
        assert isinstance(q, qrt.QuantTensor)
        assert q.storage.tobytes() == Q.storage.tobytes()
    with pytest.raises(qrt.ModelError, match="it has 'b' already"):
        qrt.save_tensors(path, {"b": Q}, append=True)
    qrt.save_tensors(path, {"c": Q})
    assert list(qrt.load_tensors(path)) == ["c"]


def test_what_fails_leaves_the_old_file(path: Path) -> None:
    qrt.save_tensors(path, {"a": Q})
    held = path.read_bytes()
    for wrong in (
        {"a": np.array([object()])},
        {"": Q},
        {"x.mlir": Q},
        {3: Q},
        {"a": "text"},
        [Q],
        {"a": [[1], [2, 3]]},
    ):
        with pytest.raises(qrt.QuantTypeError):
            qrt.save_tensors(path, wrong)  # type: ignore[arg-type]
    assert path.read_bytes() == held
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_the_bytes_depend_on_the_tensors_alone(path: Path) -> None:
    qrt.save_tensors(path, {"a": Q, "b": np.ones(3)})
    first = path.read_bytes()
    path.unlink()
    qrt.save_tensors(path, {"a": Q, "b": np.ones(3)})
    assert path.read_bytes() == first


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for suffix in FORMATS:
        with pytest.raises(OSError, match="No such file") as error:
            qrt.load_tensors(tmp_path / f"absent{suffix}")
        assert isinstance(error.value, qrt.FileError)
        with pytest.raises(OSError, match="No such file"):
            qrt.save_tensors(tmp_path / "folder" / f"t{suffix}", {"a": Q})
    with pytest.raises(qrt.ModelError, match=r"ends in \.npz or \.safetensors"):
        qrt.load_tensors(tmp_path / "t.bin")


def test_compressed_archives_and_those_of_numpy_are_read(tmp_path: Path) -> None:
    array = np.arange(12, dtype=np.int32).reshape(3, 4).T
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "n.npz", x=array)
        assert np.array_equal(qrt.load_tensors(tmp_path / "n.npz")["x"], array)


def archive(path: Path, **members: bytes | np.ndarray) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name, value in members.items():
            if isinstance(value, np.ndarray):
                with file.open(f"{name}.npy", "w") as member:
                    np.lib.format.write_array(member, value)
            else:
                file.writestr(name.replace("_", "."), value)
    return path


I4 = b"tensor<3x!quant.uniform<i4:f32, 0.5>>"
WRONG = {
    "storage out of bounds": (
        {"q": np.int8([127]), "q_mlir": b"tensor<1x!quant.uniform<i8<-8:7>:f32, 0.5>>"}, "outside"),
    "seven bits": ({"q": np.int8([64]), "q_mlir": b"tensor<1x!quant.uniform<i7:f32, 0.5>>"}, "outside"),
    "another dtype": ({"q": np.int16([1]), "q_mlir": b"tensor<1x!quant.uniform<i8:f32, 0.5>>"}, "needs int8"),
    "another shape": ({"q": np.int8([1, 2]), "q_mlir": b"tensor<1x!quant.uniform<i8:f32, 0.5>>"}, "needs int8"),
    "packed of another shape": ({"q": np.uint8([1]), "q_mlir": I4}, "needs uint8"),
    "bits behind a row": ({"q": np.uint8([1, 0x11]), "q_mlir": I4}, "behind a row"),
    "channels that the shape does not have": (
        {"q": np.int8([1]), "q_mlir": b"tensor<1x!quant.uniform<i8:f32:0, {0.5, 1.0}>>"}, "1"),
    "no type": ({"q": np.int8([1]), "q_mlir": b"tensor<"}, "expected"),
    "no tensor": ({"q": np.int8([1]), "q_mlir": b"i8"}, "no TensorType"),
    "no static shape": ({"q": np.int8([1]), "q_mlir": b"tensor<?x!quant.uniform<i8:f32, 0.5>>"}, "is not known"),
    "no text": ({"q": np.int8([1]), "q_mlir": b"\xff"}, "archive"),
    "a zero point that storage does not hold": (
        {"q": np.int8([1]), "q_mlir": b"tensor<1x!quant.uniform<i8:f32, 0.5:300>>"}, "zero point 300"),
    "something else": ({"readme_txt": b"hello"}, "no array"),
    "a type of nothing": ({"x_mlir": b"tensor<1xi8>"}, "no array"),
    "an array cut short": ({"q_npy": b"\x93NUMPY\x01\x00"}, "archive"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_archives_that_are_not_what_they_say(name: str, tmp_path: Path) -> None:
    members, message = WRONG[name]
    path = archive(tmp_path / "w.npz", **members)  # type: ignore[arg-type]
    for mapped in (True, False):
        with pytest.raises(qrt.ModelError, match=message) as error:
            qrt.load_tensors(path, mapped=mapped)
        assert str(error.value).startswith(str(path))


def test_pickles_are_refused(tmp_path: Path) -> None:
    class Runs:
        def __reduce__(self) -> tuple[object, ...]:
            return pytest.fail, ("code of the file ran",)

    header = np.lib.format.magic(1, 0) + (118).to_bytes(2, "little")
    described = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
    path = archive(tmp_path / "p.npz", q_npy=header + described + pickle.dumps([Runs()]))
    with pytest.raises(qrt.ModelError, match="pickled objects"):
        qrt.load_tensors(path)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), suffix=st.sampled_from(FORMATS), mapped=st.booleans())
def test_a_damaged_file_is_an_error_or_a_tensor(
    data: st.DataObject, suffix: str, mapped: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("d") / f"q{suffix}"
    qrt.save_tensors(path, {"q": Q, "x": np.ones(3)})
    held = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        held[data.draw(st.integers(0, len(held) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(held[: data.draw(st.integers(0, len(held)))] if data.draw(st.booleans()) else held)
    try:
        loaded = qrt.load_tensors(path, mapped=mapped)
    except qrt.QuantError:
        return
    for value in loaded.values():
        np.asarray(value)


def test_other_formats_of_safetensors_are_read_and_misplaced_arrays_are_copied(tmp_path: Path) -> None:
    header = {
        "a": {"dtype": "I8", "shape": [1], "data_offsets": [0, 1]},
        "b": {"dtype": "BF16", "shape": [2], "data_offsets": [1, 5]},
        "c": {"dtype": "F8_E4M3", "shape": [1], "data_offsets": [5, 6]},
    }
    text = json.dumps(header).encode()
    path = tmp_path / "o.safetensors"
    path.write_bytes(
        len(text).to_bytes(8, "little") + text + bytes([7]) + np.array([1, 2], ml_dtypes.bfloat16).tobytes() + b"\x38"
    )
    loaded = qrt.load_tensors(path)
    assert [loaded["b"].dtype.name, loaded["c"].dtype.name] == ["bfloat16", "float8_e4m3fn"]
    assert [np.asarray(x, np.float32).tolist() for x in loaded.values()] == [[7.0], [1.0, 2.0], [1.0]]


def test_a_missing_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "safetensors.numpy", None)
    with pytest.raises(ImportError, match=r'pip install "qrt\[safetensors\]"'):
        qrt.save_tensors(tmp_path / "t.safetensors", {"a": Q})
    assert not list(tmp_path.iterdir())
