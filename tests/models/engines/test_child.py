"""The process of an engine. Hazards: a file of the working directory that has the name of a module and runs as one; a
process that does not find qrt or the engine where its parent did."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qrt.models.engines.child import Child, module_folders
from tests.models.onnx.writing import model, node, port

ROOT = Path(__file__).parents[3]
HOSTILE = ["numpy", "json", "resource", "onnxruntime", "onnx", "ml_dtypes", "sitecustomize", "usercustomize", "signal"]
CODE = 'import os; open(os.environ["RAN_FILE"], "a").write(__name__ + "\\n")\n'


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory whose files have the names of modules, and write a file when they run."""
    folder = tmp_path / "models"
    folder.mkdir()
    for name in HOSTILE:
        (folder / f"{name}.py").write_text(CODE)
    (folder / "qrt").mkdir()
    (folder / "qrt" / "__init__.py").write_text(CODE)
    (folder / "m.onnx").write_bytes(
        model([node("Neg", ["x"], ["y"])], [port("x", shape=(2,))], [port("y", shape=(2,))])
    )
    monkeypatch.setenv("RAN_FILE", str(tmp_path / "ran"))
    monkeypatch.chdir(folder)
    return tmp_path / "ran"


@pytest.mark.parametrize("first", [[], [""], ["."], ["models"], ["here"]])
def test_no_code_of_the_working_directory_runs(
    hostile: Path, first: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a parent that looks for modules in the working directory, as an interactive one does, too."""
    here = [str(Path.cwd()) if folder == "here" else folder for folder in first]
    monkeypatch.setattr(sys, "path", [*here, *sys.path])
    child = Child("qrt.models.engines.served_by_nobody", "a test", 30, 8 << 30)
    with pytest.raises(
        Exception, match=r"No module named 'qrt\.models\.engines\.served_by_nobody'"
    ):  # so qrt itself is found
        child.ask("load", "m", {})
    assert not hostile.exists()


@pytest.mark.parametrize("link", [False, True])
def test_diff_runs_no_code_of_the_working_directory(hostile: Path, link: bool, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    folder = Path.cwd()
    if link:
        folder = tmp_path / "link"
        folder.symlink_to(Path.cwd())
    code = "import qrt.cli, sys; sys.exit(qrt.cli.main())"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "diff", "m.onnx", "--against", "ort"],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(os.path.isabs, sys.path)])},
    )  # fmt: skip
    assert not hostile.exists(), hostile.read_text()
    assert (done.returncode, done.stderr) == (0, "")


def test_folders_of_the_parent_stay_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib").mkdir()
    given = ["", str(tmp_path), str(tmp_path / "lib"), str(ROOT), "lib", "/z.zip"]
    assert module_folders(given) == [str(tmp_path / "lib"), str(ROOT), "/z.zip"]


def test_qrt_in_the_working_directory_is_found_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert module_folders(["", str(ROOT), "/lib"]) == ["/lib", str(ROOT)]


def test_a_working_directory_that_was_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert module_folders(["", "/lib", str(ROOT)]) == ["/lib", str(ROOT)]
