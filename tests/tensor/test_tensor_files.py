"""Files of tensors. Hazards: a bit, a bound or a type that is lost between writing and reading; a file of somebody
else's that is not what it says, grows without bound, or never ends; a mapped array that a kernel cannot read in place;
a file that is half written."""

import json
import os
import pickle
import socket
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrt
from tests.models.drawn import tensors

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
    with pytest.raises(qrt.errors.QuantTypeError, match="read-only"):
        qrt.relu(q, out=loaded)


def test_a_tensor_that_lies_at_an_odd_place_is_copied(tmp_path: Path) -> None:
    q = qrt.QuantTensor(np.arange(5, dtype=np.int32), qrt.UniformType("i32", "f32", 0.5))
    for name in ("a", "ab", "abc", "abcd"):
        path = archive(tmp_path / "o.npz", **{f"{name}_mlir": str(q.tensor_type).encode(), name: q.storage})
        loaded = qrt.load_tensors(path)[name]
        assert loaded._data.flags.aligned
        assert loaded.equals(q)


def test_appending_keeps_what_is_there_and_maps_of_it(path: Path) -> None:
    qrt.save_tensors(path, {"a": Q})
    before = qrt.load_tensors(path)["a"]
    qrt.save_tensors(path, {"b": np.float32([1, 2])}, append=True)
    assert set(qrt.load_tensors(path)) == {"a", "b"}
    for q in (before, qrt.load_tensors(path)["a"]):
        assert isinstance(q, qrt.QuantTensor)
        assert q.storage.tobytes() == Q.storage.tobytes()
    with pytest.raises(
        qrt.errors.ModelError, match="the names of appended tensors must not be in the file already, got 'b'"
    ):
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
        with pytest.raises(qrt.errors.QuantTypeError):
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
        assert isinstance(error.value, qrt.errors.FileError)
        with pytest.raises(OSError, match="No such file"):
            qrt.save_tensors(tmp_path / "folder" / f"t{suffix}", {"a": Q})
    with pytest.raises(qrt.errors.ModelError, match=r"must end in \.npz or \.safetensors"):
        qrt.load_tensors(tmp_path / "t.bin")


def test_compressed_archives_and_those_of_numpy_are_read(tmp_path: Path) -> None:
    array = np.arange(12, dtype=np.int32).reshape(3, 4).T
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "n.npz", x=array)
        assert np.array_equal(qrt.load_tensors(tmp_path / "n.npz")["x"], array)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


NO_FILES = {
    "pipe": (pipe, "expected a regular file, got a pipe"),
    "socket": (bound, "expected a regular file, got a socket"),
    "endless": (lambda path: path.symlink_to("/dev/zero"), "expected a regular file, got a device"),
    "null": (lambda path: path.symlink_to("/dev/null"), "expected a regular file, got a device"),
    "folder": (lambda path: path.mkdir(), "Is a directory"),
    "dangling": (lambda path: path.symlink_to("absent"), "No such file"),
    "circle": (lambda path: path.symlink_to(path), "Too many levels"),
    "empty": (lambda path: path.touch(), ""),
}


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("suffix", [*FORMATS, ".mlir", ".tflite", ".onnx", ".qrt", ".toml"])
def test_what_is_no_regular_file_is_refused_at_once(kind: str, suffix: str, tmp_path: Path) -> None:
    make, message = NO_FILES[kind]
    path = tmp_path / f"f{suffix}"
    make(path)
    if kind in ("pipe", "socket"):
        path = path.with_name(f"link{suffix}")
        path.symlink_to(f"f{suffix}")
    read = {".qrt": qrt.load_program, ".toml": qrt.quantization.targets.Target.load}.get(suffix, qrt.load)
    if suffix in FORMATS:
        read = qrt.load_tensors
    if kind == "empty":
        if suffix == ".mlir":  # a program without functions
            read(path)
            return
        with pytest.raises(qrt.errors.ModelError, match=f"^{path}: "):
            read(path)
        return
    with pytest.raises(qrt.errors.ModelError, match=message) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: ")
    if suffix != ".qrt":
        assert isinstance(error.value, OSError)


@pytest.mark.parametrize("name", ["-", "/dev/stdin", "/dev/fd/0"])
@pytest.mark.parametrize("read", [qrt.load, qrt.load_tensors])
def test_a_stream_has_no_suffix(name: str, read: Callable[[str], object]) -> None:
    with pytest.raises(qrt.errors.ModelError, match=f"^{name}: "):
        read(name)


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_file_that_is_cut_short_anywhere_is_an_error(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    qrt.save_tensors(path, {"q": Q, "x": np.ones(3)})
    held = path.read_bytes()
    for size in range(len(held)):
        path.write_bytes(held[:size])
        with pytest.raises(qrt.errors.ModelError, match=f"^{path}: "):
            qrt.load_tensors(path)


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
        {"q": np.int8([127]), "q_mlir": b"tensor<1x!quant.uniform<i8<-8:7>:f32, 0.5>>"}, "storage values"),
    "seven bits": ({"q": np.int8([64]), "q_mlir": b"tensor<1x!quant.uniform<i7:f32, 0.5>>"},
     "storage values must be in"),
    "another dtype": ({"q": np.int16([1]), "q_mlir": b"tensor<1x!quant.uniform<i8:f32, 0.5>>"},
     "expected an array of int8"),
    "another shape": ({"q": np.int8([1, 2]), "q_mlir": b"tensor<1x!quant.uniform<i8:f32, 0.5>>"},
     "expected an array of int8"),
    "packed of another shape": ({"q": np.uint8([1]), "q_mlir": I4}, "expected an array of uint8"),
    "bits behind a row": ({"q": np.uint8([1, 0x11]), "q_mlir": I4}, "padding bits after the last element"),
    "channels that the shape does not have": (
        {"q": np.int8([1]), "q_mlir": b"tensor<1x!quant.uniform<i8:f32:0, {0.5, 1.0}>>"}, "1"),
    "no type": ({"q": np.int8([1]), "q_mlir": b"tensor<"}, "expected"),
    "no tensor": ({"q": np.int8([1]), "q_mlir": b"i8"}, "expected a TensorType"),
    "no static shape": ({"q": np.int8([1]), "q_mlir": b"tensor<?x!quant.uniform<i8:f32, 0.5>>"}, "must be static"),
    "no text": ({"q": np.int8([1]), "q_mlir": b"\xff"}, "archive"),
    "a zero point that storage does not hold": (
        {"q": np.int8([1]), "q_mlir": b"tensor<1x!quant.uniform<i8:f32, 0.5:300>>"}, "got 300"),
    "something else": ({"readme_txt": b"hello"}, "must be an array .*or the type of an array"),
    "a type of nothing": ({"x_mlir": b"tensor<1xi8>"}, "must be an array .*or the type of an array"),
    "an array cut short": ({"q_npy": b"\x93NUMPY\x01\x00"}, "archive"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_archives_that_are_not_what_they_say(name: str, tmp_path: Path) -> None:
    members, message = WRONG[name]
    path = archive(tmp_path / "w.npz", **members)  # type: ignore[arg-type]
    for mapped in (True, False):
        with pytest.raises(qrt.errors.ModelError, match=message) as error:
            qrt.load_tensors(path, mapped=mapped)
        assert str(error.value).startswith(str(path))


def npy_of(shape: str, data: bytes = b"", descr: str = "'|i1'") -> bytes:
    """The bytes of an `.npy` file whose header says this shape."""
    described = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    described = described.ljust(117 if len(described) < 118 else len(described)) + b"\n"
    return np.lib.format.magic(1, 0) + len(described).to_bytes(2, "little") + described + data


SHAPES = {
    "(True, 4)": bytes(4),
    "(-1, -4)": bytes(4),
    "(2.0, 2)": bytes(4),
    "('4',)": bytes(4),
    "[4]": bytes(4),
    "4": bytes(4),
    "(None,)": b"",
    "(0, 18446744073709551615)": b"",
    "(4611686018427387904, 4, 0)": b"",
    f"({'1, ' * 65})": bytes(1),
    f"({10**100},)": b"",
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mapped", [True, False])
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_shapes_of_an_archive_that_no_array_has(shape: str, mapped: bool, compression: int, tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    with zipfile.ZipFile(path, "w", compression) as file:
        file.writestr("good.npy", npy_of("(1,)", b"1"))
        file.writestr("weights.npy", npy_of(shape, SHAPES[shape]))
    with pytest.raises(qrt.errors.ModelError, match=r"weights\.npy") as error:
        qrt.load_tensors(path, mapped=mapped)
    assert str(error.value).startswith(f"{path}: ")


@pytest.mark.parametrize("descr", ["'i1' * 3", "['i1']", "'zz'", "(" * 300, "'|i1', 'x': 1", "'\\d'", "'|O'", "'|V0'"])
def test_headers_of_an_archive_that_are_none(descr: str, tmp_path: Path) -> None:
    path = archive(tmp_path / "h.npz", weights_npy=npy_of("(4,)", bytes(4), descr))
    with pytest.raises(qrt.errors.ModelError, match=r"weights\.npy"):
        np.asarray(qrt.load_tensors(path)["weights"])


@pytest.mark.parametrize("shape", [[1] * 65, [0, 1 << 62, 8], [0, 2**64 - 1], [0, 1 << 63], [1] * 1000, [0] * 70])
@pytest.mark.parametrize("code", ["I8", "F32", "BF16", "F8_E4M3"])
def test_shapes_of_safetensors_that_no_array_has(shape: list[int], code: str, tmp_path: Path) -> None:
    count = {"I8": 1, "F32": 4, "BF16": 2, "F8_E4M3": 1}[code] * (0 not in shape)
    text = json.dumps({"weights": {"dtype": code, "shape": shape, "data_offsets": [0, count]}}).encode()
    path = tmp_path / "s.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(count))
    for mapped in (True, False):
        with pytest.raises(qrt.errors.ModelError) as error:
            qrt.load_tensors(path, mapped=mapped)
        assert str(error.value).startswith(f"{path}: ")
        assert "weights" in str(error.value)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("suffix", [".npy", ".mlir"])
def test_a_damaged_member_names_the_file_and_the_member(compression: int, suffix: str, tmp_path: Path) -> None:
    """Each byte of it in turn."""
    path = tmp_path / "d.npz"
    members = {"q.npy": npy_of("(40,)", bytes(range(40))), "q.mlir": b"tensor<40x!quant.uniform<i8:f32, 0.5>>"}
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content, compression if name == f"q{suffix}" else zipfile.ZIP_STORED)
        info = file.getinfo(f"q{suffix}")
    held, start = path.read_bytes(), info.header_offset + 30 + len(info.filename)
    for place in range(start, start + info.compress_size):
        path.write_bytes(held[:place] + bytes([held[place] ^ 0xFF]) + held[place + 1 :])
        try:
            q = qrt.load_tensors(path)["q"]
        except qrt.errors.ModelError as error:
            assert str(error).startswith(f"{path}: ")  # noqa: PT017
            assert "'q" in str(error)  # noqa: PT017
        else:
            assert q.storage.tolist() == [*range(40)]  # some bits behind the last of DEFLATE say nothing


@contextmanager
def traced() -> Iterator[Callable[[], int]]:
    """Within it allocations are counted; the function gives the most bytes at once."""
    tracemalloc.start()
    try:
        yield lambda: peaks[0]
    finally:
        peaks = [tracemalloc.get_traced_memory()[1]]
        tracemalloc.stop()


def bomb(path: Path, compression: int, size: int, name: str = "x.npy") -> Path:
    with zipfile.ZipFile(path, "w", compression) as file:
        file.writestr(name, npy_of(f"({size},)") + bytes(size))
        if name != "x.npy":
            file.writestr("x.npy", npy_of("(0,)"))
    return path


@pytest.mark.parametrize(
    ("compression", "message"),
    [
        (zipfile.ZIP_DEFLATED, "exceed the limit of 33554432 bytes .*max_bytes"),
        (zipfile.ZIP_BZIP2, "is compressed by the ZIP method 12, expected one that np.savez_compressed writes"),
        (zipfile.ZIP_LZMA, "is compressed by the ZIP method 14, expected one that np.savez_compressed writes"),
    ],
)
@pytest.mark.parametrize("name", ["x.npy", "x.mlir"])
def test_what_decompresses_to_more_than_the_limit_is_not_read(
    compression: int, message: str, name: str, tmp_path: Path
) -> None:
    path = bomb(tmp_path / "b.npz", compression, 64 << 20, name)
    assert path.stat().st_size < 1 << 20
    with traced() as peak, pytest.raises(qrt.errors.ModelError, match=rf"'x\.(npy|mlir)'.*{message}"):
        qrt.load_tensors(path, max_bytes=32 << 20)
    assert peak() < 16 << 20


def test_the_limit_counts_all_members_and_has_a_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "b.npz"
    np.savez_compressed(path, a=np.zeros(1000, np.int8), b=np.zeros(1000, np.int8))
    assert len(qrt.load_tensors(path, max_bytes=3000)) == 2
    with pytest.raises(
        qrt.errors.ModelError, match=r"'b\.npy', which takes 1128 bytes, exceed the limit of 2000 bytes"
    ):
        qrt.load_tensors(path, max_bytes=2000)
    monkeypatch.setattr("qrt.tensor.file_entries.MAX_INPUT", 2000)
    with pytest.raises(qrt.errors.ModelError, match="exceed the limit of 2000 bytes"):
        qrt.load_tensors(path)
    with pytest.raises(qrt.errors.ModelError, match="exceed the limit of 2000 bytes"):
        qrt.save_tensors(path, {"c": Q}, append=True)


def test_the_default_reads_a_large_file_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose members are no larger than it is."""
    qrt.save_tensors(path, {"a": np.zeros(5000, np.int8)})
    monkeypatch.setattr("qrt.tensor.file_entries.MAX_INPUT", 2000)
    assert qrt.load_tensors(path, mapped=False)["a"].size == 5000
    assert qrt.load_tensors(path, max_bytes=0)["a"].size == 5000, "what is mapped does not count"
    with pytest.raises(qrt.errors.ModelError, match="exceed the limit of 4999 bytes"):
        qrt.load_tensors(path, mapped=False, max_bytes=4999)


def test_a_size_that_the_directory_says_too_small_reads_no_more(tmp_path: Path) -> None:
    path = bomb(tmp_path / "b.npz", zipfile.ZIP_DEFLATED, 64 << 20)
    size = (64 << 20) + 128
    path.write_bytes(path.read_bytes().replace(size.to_bytes(4, "little"), (1000).to_bytes(4, "little")))
    with traced() as peak, pytest.raises(qrt.errors.ModelError, match=r"x\.npy"):
        qrt.load_tensors(path, max_bytes=2000)
    assert peak() < 16 << 20


@pytest.mark.parametrize("limit", [-1, 1.5, True, "1"])
def test_a_limit_is_an_integer(path: Path, limit: object) -> None:
    with pytest.raises(qrt.errors.QuantTypeError, match="'max_bytes' must be a non-negative integer or None, got"):
        qrt.load_tensors(path, max_bytes=limit)  # type: ignore[arg-type]


def test_pickles_are_refused(tmp_path: Path) -> None:
    class Runs:
        def __reduce__(self) -> tuple[object, ...]:
            return pytest.fail, ("code of the file ran",)

    header = np.lib.format.magic(1, 0) + (118).to_bytes(2, "little")
    described = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
    path = archive(tmp_path / "p.npz", q_npy=header + described + pickle.dumps([Runs()]))
    with pytest.raises(qrt.errors.ModelError, match="pickled objects"):
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
