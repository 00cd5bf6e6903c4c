"""The table knows every name of NumPy that may meet a QuantTensor. Hazard: one that is neither supported nor says what
to write instead."""

import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib import recfunctions

import qrt
from qrt import QuantError, QuantTensor, UniformType
from qrt.errors import QuantTypeError
from qrt.tensor.protocol import table
from qrt.tensor.protocol.methods import ABSENT
from tests.tensor.protocol.numpy_page import PAGE, page

MODULES = {
    "np": np, "np.linalg": np.linalg, "np.fft": np.fft, "np.strings": np.strings, "np.char": np.char,
    "np.emath": np.emath, "np.lib.stride_tricks": np.lib.stride_tricks, "np.lib.recfunctions": recfunctions,
}  # fmt: skip
CALLS = Path(__file__).with_name("calls.txt").read_text().splitlines()
T = UniformType("i8", "f32", 0.05, 3)
LEAST = 95
"""How many of the calls run, at least."""


def dispatched() -> Iterator[tuple[str, Any]]:
    """What asks a tensor before it computes: ufuncs, functions with a dispatcher, and those that take `like`."""
    for module, names in MODULES.items():
        unwanted = np.__numpy_submodules__ if names is np else set()  # which would be imported
        for name in set(dir(names)) - unwanted:
            function = getattr(names, name)
            is_public = not name.startswith("_") and callable(function) and not isinstance(function, type)
            takes_like = re.search(r"\n\s*like : ", getattr(function, "__doc__", None) or "") is not None
            if is_public and (isinstance(function, np.ufunc) or hasattr(function, "_implementation") or takes_like):
                yield f"{module}.{name}", function


NAMES = dict(dispatched())


def test_the_walk_finds_what_there_is() -> None:
    assert {"np.stack", "np.add", "np.zeros", "np.linalg.norm", "np.fft.fft", "np.strings.upper"} <= NAMES.keys()
    assert len(NAMES) > 400


def test_every_name_has_an_entry() -> None:
    missing = {table.name_of(function) for function in NAMES.values() if table.entry(function) is None}
    assert sorted(missing) == []


def test_names_that_numpy_2_0_has_not_are_left_out() -> None:
    names = ("astype", "unstack", "cumulative_sum", "cumulative_prod", "matvec", "vecmat")
    code = (
        f"import numpy as np\nfor name in {names}: delattr(np, name)\n"
        "import qrt\nq = qrt.quantize([1.0, 2.0], '!quant.uniform<i8:f32, 0.5>')\nprint(np.sum(q).storage)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.stdout.strip(), run.stderr) == ("6", "")


def test_an_error_names_the_function_that_was_called() -> None:
    channels = QuantTensor(np.int8([[1, 2], [3, 4]]), UniformType("i8", "f32", [0.5, 1.0], axis=1))
    for function in (np.sum, np.nansum, np.add.reduce, np.max, np.amax, np.fmax.reduce, np.var, np.nanvar, np.average):
        name = table.name_of((function.__self__, "reduce") if hasattr(function, "__self__") else function)
        for axis, problem in ((1, "scales"), (7, r"'axis' must be in \[-2, 1\] .*, got 7")):
            with pytest.raises(QuantTypeError, match=rf"^{re.escape(name)}: .*{problem}"):
                function(channels, axis=axis)


def test_a_name_is_written_as_users_write_it() -> None:
    for function in table.table():
        if not isinstance(function, tuple):
            assert re.fullmatch(r"np\.[\w.]+", table.name_of(function)), function


def test_an_entry_is_a_rule_or_a_hint() -> None:
    for function, entry in table.table().items():
        assert (entry.rule is None) == bool(entry.hint), table.name_of(function)
        assert (entry.rule is None) == (entry.kind in ("floats", "refused"))


def test_every_attribute_of_an_array_is_there_or_says_what_to_write() -> None:
    q = QuantTensor([[1, 2], [3, 4]], T)
    missing = {name for name in dir(np.ndarray) if not name.startswith("_") and not hasattr(q, name)}
    assert missing == {name for name in ABSENT if not name.startswith("_")}


def test_a_function_that_the_table_does_not_know_is_an_error() -> None:
    unknown = np.frompyfunc(lambda x: x, 1, 1)
    with pytest.raises(QuantTypeError, match=r"takes no QuantTensor: give np\.asarray\(q\)"):
        unknown(QuantTensor([1], T))


@pytest.mark.parametrize("ufunc", [np.exp, np.add])
def test_what_a_ufunc_would_write_in_place_is_written_by_assignment(ufunc: Any) -> None:
    with pytest.raises(QuantTypeError, match=r"\.at takes no QuantTensor: q\[indices\] = x writes elements"):
        ufunc.at(QuantTensor([1], T), [0], *([1.0] if ufunc.nin == 2 else []))


def test_functions_of_other_subjects_are_refused() -> None:
    q = QuantTensor([1], T)
    for call in (
        lambda: np.zeros(3, like=q),
        lambda: np.char.upper(q),
        lambda: np.strings.str_len(q),
        lambda: np.isnat(q),
    ):
        with pytest.raises(
            QuantTypeError,
            match=r"takes no QuantTensor: (make the array without like=q|its arguments|it is about)",
        ):
            call()


def test_a_function_without_a_rule_says_what_does_the_same() -> None:
    q, places = QuantTensor([3, 5, 3, 7, 3], T), {}
    with pytest.raises(QuantTypeError) as error:
        np.trim_zeros(q)
    places["places"] = np.flatnonzero(q)
    assert "q[places[0] : places[-1] + 1]" in str(error.value)
    assert eval("q[places[0] : places[-1] + 1]", places, {"q": q}).storage.tolist() == [5, 3, 7]
    with pytest.raises(QuantTypeError, match=r"np\.sum\(q\[i:j\], axis=0\) is the sum of a part"):
        np.add.reduceat(q, [0, 2])
    with pytest.raises(QuantTypeError, match=r"np\.concatenate joins the tensors of a row along the last axis"):
        np.block([[q], [q]])
    for call in (lambda: np.linalg.vector_norm(q), lambda: np.linalg.multi_dot([q, q])):
        with pytest.raises(QuantTypeError, match=r"has no exact result as quantized values: write np\.linalg"):
            call()


def test_a_function_has_one_rule() -> None:
    """Hazard: of two rules, that of the module which is imported last would hold."""
    assert len(table.table()) > 400
    for function in (np.flip, np.add, (np.add, "reduce")):
        with pytest.raises(RuntimeError, match="already has a rule:"):
            table.implements(function, kind="moves")(lambda *args: None)


def test_the_page_is_the_table() -> None:
    assert PAGE.read_text() == page(), "`make expected` writes it anew"


def run(call: str, folder: Path) -> str:
    """What becomes of a call: nothing to say where it runs, or its error."""
    values = np.float32([[0.1, -0.2, 0.3], [1.0, 2.0, -3.0]])
    names = {
        "np": np, "X": values, "q": qrt.quantize(values, T), "q3": qrt.quantize(values[0], T), "d": str(folder),
        "S": qrt.quantize(values[:, :2], T), "B": qrt.quantize(values[:1], T),
    }  # fmt: skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            eval(call, names)
    except (QuantError, AttributeError) as error:
        return str(error)
    return ""


def test_usual_calls_run_or_say_what_to_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else than our errors fails here."""
    said = {line: run(line.partition(": ")[2], tmp_path) for line in CALLS}
    runs = sum(not message for message in said.values())
    with capsys.disabled():
        print(f"\n{runs} of {len(CALLS)} usual calls of NumPy run on quantized tensors; the others say what to write")
    assert runs >= LEAST
    assert [line for line, message in said.items() if message and not re.search(r"write|give|\bq\.", message)] == []
    assert all(len(message) < 2000 and message.count("\n") < 3 for message in said.values())
