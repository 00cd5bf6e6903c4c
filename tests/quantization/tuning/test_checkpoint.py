"""Checkpoints. Hazards: a run that goes on from what it has not seen, records that count a batch twice, a file that is
half written or not its own, which is taken or overwritten."""

import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import FileError, ModelError
from qrt.quantization.tuning import checkpoint
from tests.quantization.workflow.programs import NETWORK, rows

DATA = np.array_split(rows(200), 10)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE", 0)


def quantized(data: Any, path: Path | None, **options: Any) -> Any:
    given = None if path is None else str(path)
    options = {"method": "minmax", "passes": (), **options}
    return qrt.quantize_program(ir.parse(NETWORK), {"images": data}, checkpoint=given, **options)


def broken_off(after: int) -> Iterator[Any]:
    yield from DATA[:after]
    raise KeyboardInterrupt


def interrupted(path: Path, after: int = 7) -> None:
    with pytest.raises(KeyboardInterrupt):
        quantized(broken_off(after), path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.checkpoint"


@pytest.fixture(scope="module")
def whole() -> Any:
    return quantized(DATA, None)


@pytest.mark.parametrize("after", [1, 6, 10])
def test_a_run_goes_on_where_it_ended(path: Path, whole: Any, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(path, after)
    ran: list[str] = []
    run = qrt.quantization.calibration.observe.ProgramObserver.run
    monkeypatch.setattr(
        "qrt.quantization.calibration.observe.ProgramObserver.run",
        lambda self, where, arrays: (ran.append(where), run(self, where, arrays))[1],
    )
    made = quantized(iter(DATA), path)
    assert ran == [f"batch {number}" for number in range(after + 1, 11)]
    assert made.calibration.digest() == whole.calibration.digest()
    assert str(made.module) == str(whole.module)
    ran.clear()
    assert str(quantized(DATA, path, method="percentile").module) == str(
        quantized(DATA, None, method="percentile").module
    )
    assert ran == [f"batch {number}" for number in range(1, 11)]  # of the second alone
    assert list(path.parent.iterdir()) == [path]


KILLED = """
import sys
import numpy as np
import qrt
from qrt.quantization.tuning import checkpoint
from tests.quantization.workflow.programs import NETWORK, rows
checkpoint.SECONDS = checkpoint._SHARE = 0
module = qrt.ir.parse(NETWORK)
data = {"images": np.array_split(rows(2000), 400)}
qrt.quantize_program(module, data, method="minmax", passes=(), checkpoint=sys.argv[1])
"""


def test_killed_and_resumed_it_is_one_digest(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a moment that is drawn anew each time: between batches, or while the file is written."""
    monkeypatch.setattr(checkpoint, "SECONDS", 10.0)
    data = np.array_split(rows(2000), 400)
    command = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(command, cwd=Path(__file__).parents[3]) as process:
        while not path.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(float(np.random.default_rng().uniform(0, 0.3)))
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    made, expected = quantized(data, path), quantized(data, None)
    assert made.calibration.digest() == expected.calibration.digest()
    assert str(made.module) == str(expected.module)


OTHERS: list[tuple[Any, str]] = [
    ({"data": DATA[::-1]}, "this checkpoint was written after 7 runs on other data, or in another order"),
    (
        {"data": [DATA[1], DATA[0], *DATA[2:]]},
        "this checkpoint was written after 7 runs on other data, or in another order",
    ),
    ({"data": rows(200)}, "this checkpoint was written after 7 runs, but the data has 4"),
    (
        {"data": np.array_split(rows(200), 8)},
        "this checkpoint was written after 7 runs on other data, or in another order",
    ),
    ({"data": DATA[:6]}, "this checkpoint was written after 7 runs, but the data has 6"),
    (
        {"skip_nonfinite": True},
        "this checkpoint was written for another program, target or option: give the same, or the name of another file",
    ),
    (
        {"text": NETWORK.replace("tanh", "exp")},
        "this checkpoint was written for another program, target or option: give the same, or the name of another file",
    ),
    (
        {"text": NETWORK.replace("0.3456", "0.3457")},
        "this checkpoint was written for another program, target or option: give the same, or the name of another file",
    ),
]


@pytest.mark.parametrize(("change", "message"), OTHERS)
def test_another_program_or_other_data_are_refused(path: Path, change: dict[str, Any], message: str) -> None:
    interrupted(path)
    before = path.read_bytes()
    options = {"data": DATA, "text": NETWORK} | change
    text, data = options.pop("text"), options.pop("data")
    if text == NETWORK and "text" in change:
        pytest.fail("the program is not changed")
    with pytest.raises(ModelError, match=message) as caught:
        qrt.quantize_program(ir.parse(text), {"images": data}, checkpoint=path, **options)
    assert str(caught.value).startswith(str(path))
    assert path.read_bytes() == before


def test_a_truncated_file_is_refused(path: Path) -> None:
    interrupted(path)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for length in (0, 1, len(content) - 1, *rng.integers(2, len(content), 6).tolist()):
        path.write_bytes(content[:length])
        with pytest.raises(ModelError, match=r"this is not a complete checkpoint: .*; remove it to start over"):
            quantized(DATA, path)


def test_a_changed_byte_is_found(path: Path, whole: Any) -> None:
    """Or it changes nothing, in a field of the archive that is not read."""
    interrupted(path)
    content = path.read_bytes()
    refused = 0
    for place in np.random.default_rng(0).integers(0, len(content), 12).tolist():
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :])
        try:
            assert quantized(DATA, path).calibration.digest() == whole.calibration.digest()
        except ModelError:
            refused += 1
    assert refused > 6


def test_whole_files_of_other_content_are_refused(path: Path) -> None:
    """Of another version, or whose archive was written anew with another sample: no checksum of a part tells it."""
    interrupted(path)
    with np.load(path) as file:
        entries = dict(file)
    name = next(name for name in entries if name != checkpoint._STATE)
    text = entries[checkpoint._STATE].tobytes()
    later = np.frombuffer(text.replace(b'"version": 1', b'"version": 7', 1), np.uint8)
    for changed, message in (
        ({checkpoint._STATE: later}, "it has version 7, but this version of qrt reads version 1"),
        ({name: entries[name] + np.float32(1)}, "its records were changed"),
    ):
        with path.open("wb") as file:
            np.savez(file, **(entries | changed))
        with pytest.raises(ModelError, match=f"this is not a complete checkpoint: {message}; remove it to start over"):
            quantized(DATA, path)


def test_foreign_files_are_refused_and_stay(path: Path) -> None:
    for content in (NETWORK.encode(), b"\x00" * 100):
        path.write_bytes(content)
        with pytest.raises(ModelError, match=r"this is not a complete checkpoint: not an \.npz archive of arrays"):
            quantized(DATA, path)
        assert path.read_bytes() == content
    with path.open("wb") as file:
        np.savez(file, images=DATA[0])
    with pytest.raises(
        ModelError, match="this is not a complete checkpoint: it does not contain the state of a calibration"
    ):
        quantized(DATA, path)
    with pytest.raises(FileError, match="Is a directory"):
        quantized(DATA, path.parent)
    with pytest.raises(FileError, match="file: the folder does not exist"):
        quantized(DATA, path.parent / "absent" / "file")


def test_skipped_values_are_in_it(path: Path) -> None:
    bad = [np.where(part > 2, np.float32(np.nan), part) for part in DATA]

    def broken() -> Iterator[Any]:
        yield from bad[:9]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        quantized(broken(), path, skip_nonfinite=True)
    made = quantized(bad, path, skip_nonfinite=True)
    expected = quantized(bad, None, skip_nonfinite=True)
    assert made.calibration.skipped == expected.calibration.skipped != {}
    assert made.calibration.digest() == expected.calibration.digest()


def test_it_is_not_written_all_the_time(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once at the end here: writing takes as long as many runs of a small program."""
    monkeypatch.setattr(checkpoint, "SECONDS", 10.0)
    written: list[int] = []
    write = checkpoint.Checkpoint.write
    monkeypatch.setattr(
        checkpoint.Checkpoint, "write", lambda self, seen: (written.append(seen.runs), write(self, seen))[1]
    )
    quantized(DATA, path)
    assert written == [10]
    assert os.stat(path).st_size < 1 << 20


def test_a_pipe_or_a_compressed_bomb_is_no_checkpoint(tmp_path: Path) -> None:
    pipe, bomb = tmp_path / "p", tmp_path / "b"
    os.mkfifo(pipe)
    with pytest.raises(FileError, match=f"^{pipe}: expected a regular file, got a pipe$"):
        quantized(DATA, pipe)
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_BZIP2) as file:
        file.writestr("state.npy", bytes(1 << 24))
    with pytest.raises(ModelError, match="compressed by the ZIP method 12"):
        quantized(DATA, bomb)
