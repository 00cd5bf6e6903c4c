"""Hazards: a line that was cut off and counts; damage that is taken for the end; trials of another program or budget
taken for this one's; two searches that write one file; a foreign file that is overwritten."""

import os
from pathlib import Path

import pytest

from qrt.errors import FileError, ModelError
from qrt.quantization.search.journal import decoded, encoded, opened

SUBJECT = {"program": "p", "budget": "snr=33"}
LINES = [{"trial": 1, "noise": "1/3"}, {"trial": 2, "noise": "7"}]


def written(path: Path) -> bytes:
    with opened(path, SUBJECT) as journal:
        for line in LINES:
            journal.append(line)
    return path.read_bytes()


def test_what_was_appended_is_read_again(tmp_path: Path) -> None:
    written(tmp_path / "j")
    with opened(tmp_path / "j", SUBJECT) as journal:
        assert journal.lines == LINES
        journal.append({"trial": 3})
    with opened(tmp_path / "j", SUBJECT) as journal:
        assert journal.lines == [*LINES, {"trial": 3}]


def test_a_line_is_on_the_disk_before_the_next_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path / "j", SUBJECT) as journal:
        synchronized: list[bytes] = []
        monkeypatch.setattr("os.fsync", lambda _: synchronized.append((tmp_path / "j").read_bytes()))
        journal.append(LINES[0])
        assert synchronized == [(tmp_path / "j").read_bytes()]
        assert synchronized[0].endswith(encoded(LINES[0]))


def test_cut_off_at_any_byte_it_goes_on_behind_the_last_whole_line(tmp_path: Path) -> None:
    """What stands of the line that was cut off must go, or the next line would stand behind half a line."""
    whole = written(tmp_path / "j")
    ends = [0, *(i + 1 for i, byte in enumerate(whole) if byte == ord("\n"))]
    for size in range(len(whole) + 1):
        lines, kept = decoded(whole[:size], "j")
        assert kept == max(end for end in ends if end <= size)
        assert lines[1:] == LINES[: max(len(lines) - 1, 0)]
    for size in (5, ends[1] + 4, ends[2] + 20, ends[2] - 1):
        (tmp_path / "j").write_bytes(whole[:size])
        with opened(tmp_path / "j", SUBJECT) as journal:
            missing = LINES[len(journal.lines) :]
            for line in missing:
                journal.append(line)
        assert missing
        assert (tmp_path / "j").read_bytes() == whole


def test_a_changed_digit_in_the_last_line_drops_it_and_elsewhere_is_an_error(tmp_path: Path) -> None:
    whole = written(tmp_path / "j")
    assert decoded(whole.replace(b'"7"', b'"8"'), "j")[0][1:] == LINES[:1]
    with pytest.raises(ModelError, match="j: line 2 is damaged, or this is not a journal"):
        decoded(whole.replace(b"1/3", b"1/4"), "j")
    with pytest.raises(ModelError, match="j: line 1 is damaged"):
        decoded(whole.replace(b"snr=33", b"snr=34"), "j")


@pytest.mark.parametrize("content", [b"hello", b'{"a": 1}\n', b"\0" * 40, b"[]\n[]\n", b'{"journal": 1}\n' * 2, b"{}"])
def test_a_file_that_is_no_journal_is_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "j").write_bytes(content)
    with (
        pytest.raises(ModelError, match="is damaged, or this is not a journal: give another file"),
        opened(tmp_path / "j", SUBJECT),
    ):
        pass
    assert (tmp_path / "j").read_bytes() == content


@pytest.mark.parametrize(("key", "value"), [("program", "q"), ("budget", "snr=34"), ("metric", "accuracy")])
def test_a_journal_of_something_else_is_refused(tmp_path: Path, key: str, value: str) -> None:
    whole = written(tmp_path / "j")
    with (
        pytest.raises(
            ModelError, match=f"the journal is of another search, with {key} .*: remove it, or give another file"
        ),
        opened(tmp_path / "j", SUBJECT | {key: value}),
    ):
        pass
    assert (tmp_path / "j").read_bytes() == whole


def test_one_search_at_a_time_writes_a_journal(tmp_path: Path) -> None:
    with (
        opened(tmp_path / "j", SUBJECT),
        pytest.raises(ModelError, match="another search is writing this journal: give each search its own"),
        opened(tmp_path / "j", SUBJECT),
    ):
        pass


def test_a_journal_that_cannot_be_written(tmp_path: Path) -> None:
    for name in (tmp_path, tmp_path / "no" / "j", "a\0b"):
        with pytest.raises(FileError), opened(name, SUBJECT):
            pass


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_regular_file_is_refused_at_once(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "j"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(FileError, match=f"^{path}: expected a regular file, got a {kind}$"), opened(path, SUBJECT):
        pass
