"""The harness that times runtimes. Hazards: a wrong result with a time, a crash that ends the run, a missing library
that fails it."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benches.budget import Budget
from benches.peers import driver
from benches.peers.cases import Case, cases
from benches.peers.runtimes import PEERS, library_of

PLUGIN = """
import os
import time
import numpy as np
class Peer:
    def __init__(self, call, array):
        self.call, self.array = call, array
    def result(self):
        return self.array
PEERS = {
    "right": lambda case, threads: Peer(lambda: None, case.d["ref"]),
    "wrong": lambda case, threads: Peer(lambda: None, case.d["ref"] + np.int8(3)),
    "crash": lambda case, threads: os._exit(3),
    "slow": lambda case, threads: Peer(lambda: time.sleep(0.05), case.d["ref"]),
    "lacking": lambda case, threads: __import__("a_module_that_nobody_has"),
    "other": lambda case, threads: None,
}
"""


@pytest.fixture
def rows(tmp_path: Path) -> dict[str, dict]:
    plugin = tmp_path / "plugin.py"
    plugin.write_text(PLUGIN)
    (case,) = [case for case in cases() if case.name == "qcast_16_tensor"]
    names = ["qrt_float32", "numpy", "meter_copy", "right", "wrong", "crash", "slow", "lacking", "other"]
    options = driver.Options(threads=1, rounds=2, budget=Budget(60, 1), budget_ms=0.05, plugins=(str(plugin),))
    return {row["peer"]: row for row in driver.run([case], names, options)}


def test_a_run_has_a_row_for_each_peer_that_takes_the_case(rows: dict[str, dict]) -> None:
    assert set(rows) == {"qrt_float32", "numpy", "meter_copy", "right", "wrong", "crash", "slow", "lacking"}
    timed = {name for name, row in rows.items() if row.get("ok") and row.get("median_us", 0) > 0}
    assert timed == {"qrt_float32", "numpy", "meter_copy", "right"}
    assert rows["wrong"]["ok"] is False
    assert rows["wrong"]["maxdiff"] == 3
    assert "its first calls took" in rows["slow"]["dropped"]
    assert "status 3" in rows["crash"]["error"]
    assert rows["lacking"]["absent"] is True


def test_a_case_for_which_no_time_is_left_is_named() -> None:
    chosen = [case for case in cases() if case.name.startswith("qcast_16")]
    assert list(driver.run(chosen, ["numpy"], driver.Options(threads=1, budget=Budget(0, 1)))) == [
        {"case": "qcast_16_tensor", "threads": 1, "left_out": True}
    ]


@pytest.mark.parametrize("case", [case for case in cases() if case.name.endswith(("4x4x4", "16_tensor", "14x14x512"))])
def test_a_reference_is_right_by_its_own_check(case: Case) -> None:
    assert case.check(case.d["ref"]) == (True, 0, 0)
    other = case.d["ref"].copy()
    other.flat[0] = other.flat[0] - 2 if other.flat[0] > 0 else other.flat[0] + 2
    assert not case.check(other)[0]


def test_every_peer_belongs_to_a_module_of_its_library() -> None:
    assert {library_of(name) for name in PEERS} == {"qrt", "meter", "numpy", "torch", "ort", "openvino", "litert"}


def test_operations_and_bytes_are_counted() -> None:
    by_name = {case.name: case for case in cases()}
    assert by_name["gemm_4x4x4"].operations == 2 * 4**3
    assert by_name["conv_dw3x3_14x14x512"].operations == 2 * 14 * 14 * 512 * 9
    assert by_name["qcast_16_tensor"].nbytes == 16 * 5
    assert np.shape(by_name["gemm_4x4x4"].d["ref"]) == (4, 4)
