"""Functions of the runner libraries. Hazards: what `mlir-runner` prints, to the letter (`tests/oracle` compares), views
with an offset, index numbers, which are unsigned, a declaration of other types."""

import time
from pathlib import Path

import numpy as np

from tests.runtime.interpreter.run import refused, run

FOLDER = Path(__file__).parent


def test_what_is_printed(capsys):
    run((FOLDER / "printing.mlir").read_text(), name="main")
    assert capsys.readouterr().out == (FOLDER / "printing.txt").read_text()


def test_tensors_print_as_the_memrefs_they_become(capsys):
    text = """
    func.func private @printMemrefF32(tensor<*xf32>)
    func.func @f(%t: tensor<2xf32>) {
      %u = tensor.cast %t : tensor<2xf32> to tensor<*xf32>
      call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
      return
    }"""
    run(text, np.float32([1, 2.5]), name="f")
    head = "Unranked Memref base@ = 0x0 rank = 1 offset = 0 sizes = [2] strides = [1] data = \n"
    assert capsys.readouterr().out == f"{head}[1,  2.5]\n"


def refused_call(declared, given, value, message):
    text = f"""
    func.func private @{declared}
    func.func @f(%x: {given}) {{
      call @{declared.partition("(")[0]}(%x) : ({given}) -> ()
      return
    }}"""
    refused(text, value, message=message)


def test_what_is_refused():
    refused_call(
        "printI64(i32)",
        "i32",
        np.int32(1),
        r"declares @printI64 of MLIR's runner library as .*, but this function takes \(i64\)",
    )
    refused_call("printNothing(i64)", "i64", np.int64(1), "has no body")
    empty = np.zeros((0,), np.float32)
    refused_call("printMemref1dF32(memref<?xf32>)", "memref<?xf32>", empty, "cannot print a memref without elements")
    text = """
    func.func private @printI64(i64) -> i64
    func.func @f(%x: i64) -> i64 {
      %0 = call @printI64(%x) : (i64) -> i64
      return %0 : i64
    }"""
    refused(text, np.int64(1), message="but this function takes .* and returns nothing")


def test_the_clock_tells_the_time():
    text = """
    func.func private @rtclock() -> f64
    func.func @f() -> f64 {
      %0 = call @rtclock() : () -> f64
      return %0 : f64
    }"""
    before = time.time()
    (told,) = run(text, name="f")
    assert before <= told <= time.time()
