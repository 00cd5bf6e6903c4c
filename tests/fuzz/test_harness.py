"""The harness itself: it sees every end that a case can come to, and makes the same cases and the same small texts."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import onnx
import pytest

from qrt.errors import QuantError
from qrt.models.onnx.registry import OPERATORS
from qrt.quantization.report.differences import Differences, TensorDifference
from tests.fuzz import seeds, worker
from tests.fuzz.campaign import Campaign
from tests.fuzz.kinds import KINDS, Kind, command, eager, text, values
from tests.fuzz.kinds.onnx_functions import put_in_functions
from tests.fuzz.minimize import minimized
from tests.fuzz.mutate import mutated
from tests.fuzz.outcome import Finding
from tests.fuzz.vocabulary import tokens
from tests.models.onnx.one_of_each import models as small_models
from tests.models.onnx.running import run as run_model
from tests.models.onnx.writing import model, port
from tests.models.onnx.writing import node as onnx_node

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def endless() -> None:
    while True:
        pass


def blocked() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF])
    time.sleep(60)


def swallowing() -> None:
    while True:
        try:
            endless()
        except Exception:
            continue


def deep() -> None:
    deep()


def raising(error: BaseException) -> Callable[[], None]:
    def act() -> None:
        raise error

    return act


ENDS: dict[str, tuple[Callable[[], object], str]] = {
    "segmentation fault": (lambda: ctypes.string_at(1), "SIGSEGV"),
    "abort": (os.abort, "SIGABRT"),
    "exit": (lambda: os._exit(3), "the worker exited with 3"),
    "loop": (endless, "hang under"),
    "loop that catches exceptions": (swallowing, "hang under"),
    "blocked": (blocked, "hang (stuck)"),
    "memory": (lambda: len(bytearray(3 * worker.ADDRESS_SPACE)), "MemoryError"),  # a large process has room to reuse
    "resident memory": (lambda: len(b"x" * (100 << 20)), "memory"),
    "raw exception": (raising(TypeError("no")), "TypeError outside qrt"),
    "recursion": (deep, "RecursionError under"),
    "difference": (raising(Finding("bits differ", "0 and 1")), "bits differ"),
    "interrupt": (raising(KeyboardInterrupt()), "KeyboardInterrupt"),
}


@pytest.mark.parametrize("name", ENDS)
def test_every_end_is_an_outcome_and_the_other_cases_go_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "SLOWNESS", 0.5)  # a fork of a large process takes some of them
    monkeypatch.setattr(worker, "STUCK_SECONDS", 1.5 if name == "blocked" else 60.0)  # of wall time, on a busy machine
    monkeypatch.setattr(worker, "RESIDENT", 32 << 20)
    act, cause = ENDS[name]

    def check(case: str) -> str:
        if case == "bad":
            act()
        return "good"

    kind = Kind("text", str, check)
    outcomes = list(worker.run(kind, enumerate(["good", "bad", "good", "bad", "good"])))
    assert [outcome.number for outcome in outcomes] == [0, 1, 2, 3, 4]
    assert [outcome.label for outcome in outcomes] == ["good", "", "good", "", "good"]
    assert outcomes[1].cause.startswith(cause)


def test_a_refusal_is_no_finding() -> None:
    def check(case: str) -> str:
        raise QuantError("no")

    assert worker.outcome_of(Kind("text", str, check), "x").label == "refused"


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (QuantError("no"), ""),
        (QuantError("a\nb\nc"), ""),
        (QuantError("a\nb\nc\nd"), "more than 3 lines"),
        (QuantError("qrt does not support 3 of its operators:\na\nb\nc\ndynamic dimensions"), ""),
        (QuantError("qrt does not support 1 of its operators:\na\nb\nc"), "more than 3 lines"),
        (QuantError(" "), "an error that says nothing"),
        (TypeError("f() missing 1 required positional argument: 'x'"), ""),
        (TypeError("missing 1 required" + 3000 * "x"), "more than 2048 characters"),
        (QuantError("f: 'int' object is not iterable"), "a message that is not qrt's"),
        (QuantError("f: got <class 'int'>"), "a message that is not qrt's"),
        (QuantError("f: _g() got an unexpected keyword argument 'h'"), "a message that is not qrt's"),
    ],
)
def test_what_a_refusal_says_is_short_and_in_words_of_its_own(error: Exception, cause: str) -> None:
    def check(case: str) -> str:
        raise error

    outcome = worker.outcome_of(Kind("eager", str, check), "x")
    assert outcome.cause.partition(":")[0] == cause
    assert outcome.label == ("" if cause else "refused")


@pytest.mark.parametrize("kind", ["text", "programs", "eager", "command"])
def test_every_kind_sees_a_message_that_is_too_long(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the kind itself takes the error, too."""
    from tests.fuzz import outcome

    monkeypatch.setattr(outcome, "MOST_CHARACTERS", 20)
    case = {
        "text": "// pipeline: canonicalise\nfunc.func private @f(i8)",
        "programs": "func.func @f(%x: memref<*xi8>) { %0 = arith.constant 0 : i8 %1 = arith.divsi %0, %0 : i8 return }",
        "eager": 'relu(t("f32"))',
        "command": "qrt run no.mlir",
    }[kind]
    assert worker.outcome_of(KINDS[kind], case).cause.startswith("more than 20 characters")


def test_a_cause_names_the_innermost_frame_of_the_package() -> None:
    def check(case: str) -> str:
        from qrt.ir.core.verifier import dominator_tree

        dominator_tree(5)  # type: ignore[arg-type]
        return ""

    cause = worker.outcome_of(Kind("text", str, check), "").cause
    assert cause == "AttributeError in qrt/ir/core/verifier.py:_postorder"


def test_several_processes_tell_every_case() -> None:
    outcomes = worker.run(Kind("text", str, lambda case: case), [(n, str(n)) for n in range(50)], processes=3)
    assert sorted((outcome.number, outcome.label) for outcome in outcomes) == [(n, str(n)) for n in range(50)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_and_a_number_are_a_case(kind: str) -> None:
    cases = dict(KINDS[kind].cases("a", range(60)))
    assert cases == dict(KINDS[kind].cases("a", range(60)))
    assert dict(KINDS[kind].cases("a", range(40, 60))) == {n: cases[n] for n in range(40, 60)}
    assert cases != dict(KINDS[kind].cases("b", range(60)))


def test_tokens_are_the_text() -> None:
    for case in (*seeds.texts(), 'tensor<4x?xf32> %0#1 -> 0x1F \0 "a\\"b" é //x\n'):
        assert "".join(tokens(case)) == case
    assert tokens("tensor<4x?x[2]xf32>") == ["tensor", "<", "4", "x", "?", "x", "[", "2", "]", "x", "f32", ">"]


def test_mutants_are_short_and_of_many_forms() -> None:
    draw = Random("1")
    found = {mutated(draw, draw.choice(seeds.texts()), seeds.texts()) for _ in range(300)}
    assert len(found) > 250
    assert all(len(case) <= 20_000 for case in found)


def test_a_finding_is_minimized_by_lines_and_tokens() -> None:
    case = "func.func @f() {\n" + "  %0 = arith.constant 1 : i8\n" * 50 + "  a.bad 1, 2\n}\n"
    assert minimized(case, lambda text: "a.bad" in text and "1" in text, 10).split() == ["a.bad", "1"]


def test_a_campaign_counts_groups_and_writes(tmp_path: Path) -> None:
    def check(case: str) -> str:
        if "7" in case:
            raise Finding("a seven")
        return "other"

    kind = Kind("text", str, check)
    campaign = Campaign(1)
    campaign.run(kind, [(n, f"a\nb {n}\nc") for n in range(20)])
    lines = list(campaign.report(tmp_path, 5))
    assert lines[-1] == "20 cases, 1 findings"
    assert [line for line in lines if "2 of text: a seven" in line]
    (path,) = (path for path in (tmp_path / "text").iterdir() if path.suffix != ".report")
    assert path.read_text().strip() == "7"
    assert "b 7" in path.with_suffix(".report").read_text()


_ATHERIS = """
import contextlib

def instrument_imports(include):
    assert include == ["qrt"]
    return contextlib.nullcontext()

def Setup(arguments, one_input, custom_mutator):
    global given
    given = arguments, one_input, custom_mutator

def Fuzz():
    arguments, one_input, mutate = given
    assert "-seed=1" in arguments
    texts = [path.read_bytes() for path in sorted(__import__("pathlib").Path(arguments[1]).iterdir())]
    assert len(texts) > 100
    for seed in range(50):
        data = mutate(texts[seed], 5000, seed)
        assert data == mutate(texts[seed], 5000, seed) and len(data) <= 5000
        one_input(data)
    from tests.fuzz.kinds import text
    text.ir.parse = lambda *_, **__: 1 / 0
    one_input(b"module {}")
    one_input(b"module {}")
"""


def test_guided_fuzzing_changes_texts_and_writes_findings(tmp_path: Path) -> None:
    """With a stand-in for atheris, which not every Python has: it calls what atheris would."""
    (tmp_path / "atheris.py").write_text(_ATHERIS)
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    command = [sys.executable, "-m", "tests.fuzz.guided", "--minutes", "0.01", "--output", str(tmp_path / "out")]
    done = subprocess.run(
        command, cwd=seeds.ROOT, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ZeroDivisionError outside qrt") == 1
    assert (tmp_path / "out/text/findings/ZeroDivisionError_outside_qrt").read_bytes() == b"module {}"


# -- what the kinds call a finding -----------------------------------------------------------------------------------


def test_text_that_prints_otherwise_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    from qrt.ir import Module

    whole = Module.print
    monkeypatch.setattr(Module, "print", lambda self, **form: whole(self, **form).replace("i8", "i9"))
    with pytest.raises(Finding, match=r"another program|prints otherwise"):
        text.check("func.func private @f(i8)")
    monkeypatch.setattr(Module, "print", lambda self, **form: whole(self, **form).replace("}", ""))
    with pytest.raises(Finding, match="does not parse again"):
        text.check("func.func private @f(i8)")


_SUM = """func.func @f(%a: index, %b: index) -> index {
  %0 = affine.apply affine_map<(d0)[s0] -> (s0 * s0 * 3 + (d0 mod 4) * s0 + (d0 floordiv 8) * 2 + d0)>(%a)[%b]
  return %0 : index
}"""


def test_an_affine_sum_may_associate_otherwise_once_read_but_keeps_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """mlir-opt prints it as one that it reads as another, too."""
    assert text.check(_SUM) == "transformed"
    from qrt.ir import Module

    whole = Module.print
    monkeypatch.setattr(Module, "print", lambda self, **form: whole(self, **form).replace("mod 4", "mod 5"))
    with pytest.raises(Finding, match="an affine map of other values once read"):
        text.check(_SUM)


def test_a_sum_that_stands_to_the_right_is_found_anywhere() -> None:
    d0, s0 = ("d", 0), ("s", 0)
    assert text.nests_right(("mod", ("+", d0, ("+", d0, s0)), 4))
    assert not text.nests_right(("+", ("+", d0, ("*", s0, 2)), s0))


def test_a_pass_that_breaks_a_program_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    from qrt.ir.passes.dce import DeadCodeElimination

    def breaks(self: object, module: object) -> None:
        next(iter(module.functions)).attributes.pop("sym_name")  # type: ignore[attr-defined]

    monkeypatch.setattr(DeadCodeElimination, "run", breaks)
    with pytest.raises(Finding, match="dce breaks a rule"):
        text.check("// pipeline: dce\nfunc.func private @f(i8)")


@pytest.mark.parametrize(
    "expression", ["__import__('os')", "(lambda: 0)()", "q.__class__", "'a' * 9", "[x for x in ()]", "open('x')"]
)
def test_a_mutant_of_a_call_reaches_nothing_else(expression: str) -> None:
    with pytest.raises(SyntaxError):
        eager.evaluate(expression)


@pytest.mark.parametrize("seconds", ["1e9", "9", "1e-1", "0.5", "00001"])
def test_a_benchmark_that_lasts_is_no_case(seconds: str) -> None:
    """A mutant of `1e-9` without its sign would be a hang, which the caller asked for."""
    assert command.check(f"qrt bench --case gemm_4x4x4 --seconds={seconds}") == "no command"


@pytest.mark.parametrize("seconds", ["1e-9", "0", "-1", "nan", "inf", "x"])
def test_a_benchmark_of_a_moment_is_a_case(seconds: str) -> None:
    assert command.check(f"qrt bench --case gemm_4x4x4 --seconds={seconds}").startswith("status ")


def test_other_bits_on_one_isa_are_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    from qrt import kernels

    case = 'dcast(q("4", "!quant.uniform<i8:f32, 0.5>", 1))'
    assert eager.check(case) == "value"
    whole = eager.evaluate
    monkeypatch.setattr(eager, "evaluate", lambda case: whole(case) + (kernels.active() == kernels.available()[-1]))
    with pytest.raises(Finding, match="bits differ: dcast, ref and"):
        eager.check(case)


def test_a_wrong_value_of_a_model_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here an operator that is imported as another one."""
    if values.missing_package("ort"):
        pytest.skip("onnxruntime is not installed: make test-oracle installs it")
    right = small_models()["Neg"]
    assert values.check_values(right, "ort", 1000) == "compared"
    with monkeypatch.context() as patch:
        patch.setitem(OPERATORS._entries, "Neg", lambda node: node.set(0, node.value(0)))
        with pytest.raises(Finding, match="wrong value of Neg, by ort"):
            values.check_values(right, "ort", 1000)
    monkeypatch.setattr(values, "one_of", 1 << 40)
    assert values.check_values(right, "ort", 1000) == "values not drawn to be compared"


def test_which_differences_are_wrong() -> None:
    """Integers lie within their intervals, floats nearly. Outputs count where no node was compared."""
    integers = [("a", "Add 0", 1, 0), ("b", "QDQ Conv 1", 0, 0), ("c", "QDQ Conv 2", 2, 1)]
    tensors = tuple(TensorDifference(name, op, "", 8, n, n, beyond=far) for name, op, n, far in integers)
    floats = TensorDifference("d", "Exp 3", "", 8, 1, 9999, is_float=True)
    outputs = tuple(TensorDifference(name, "", "", 8, 1, 1) for name in ("b", "e"))
    noise = TensorDifference("f", "ReduceSum 4", "", 8, 1, 99, is_float=True)
    differences = Differences("m", "engine", 1, (*tensors, floats, noise), outputs)
    assert [tensor.name for tensor in values.wrong_tensors(differences)] == ["a", "c", "d", "e"]


def test_functions_and_data_outside_keep_what_models_compute() -> None:
    """Of the drawn changes these two alone must: else the comparison with a runtime would say nothing of them."""
    x = {"i0": np.float32([1, -2, 3])}
    message = onnx.load_from_string(model([onnx_node("Neg", ["i0"], ["t"]), onnx_node("Elu", ["t"], ["o0"], alpha=0.5)],
                                          [port("i0", shape=(3,))], [port("o0")]))  # fmt: skip
    (expected,) = run_model(message.SerializeToString(), **x)
    for number in range(40):
        changed = onnx.ModelProto()
        changed.CopyFrom(message)
        put_in_functions(Random(number), changed)
        assert changed.functions
        np.testing.assert_array_equal(run_model(changed.SerializeToString(), **x)[0], expected)
