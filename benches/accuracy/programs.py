"""The networks as float programs: the files of `programs`, whose weights are added as resources."""

from pathlib import Path

import numpy as np

from benches.accuracy import vowels
from benches.accuracy.data import STEPS, Array

FOLDER = Path(__file__).with_name("programs")


def program(name: str, constants: dict[str, Array]) -> str:
    """A network as MLIR text."""
    text = FOLDER.joinpath(f"{name}.mlir").read_text(encoding="utf-8")
    if name == "vowels":
        text += _calls_of_the_cell()
    blobs = ",\n".join(f'      {key}: "{_blob(value)}"' for key, value in constants.items())
    return f"{text}\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{blobs}\n    }}\n  }}\n#-}}\n"


def inputs(name: str, values: Array) -> dict[str, Array]:
    """Values by the names of the program's inputs: each step of a series is one, and so is the first state, zeros."""
    if name != "vowels":
        return {"images": values}
    state = np.zeros((len(values), vowels.UNITS), np.float32)
    return {**{f"x{step}": values[:, step] for step in range(STEPS)}, "state": state}


def _calls_of_the_cell() -> str:
    """The function that goes through a series, and gives the logits of the last state."""
    steps = range(STEPS)
    arguments = ",\n    ".join(f'%x{step}: tensor<?x12xf32> {{qrt.name = "x{step}"}}' for step in steps)
    calls = "\n".join(
        f"  %h{step + 1} = func.call @cell(%x{step}, %h{step})"
        " : (tensor<?x12xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>"
        for step in steps
    )
    return f"""
func.func @main(
    {arguments},
    %h0: tensor<?x64xf32> {{qrt.name = "state"}}
) -> (tensor<?x9xf32> {{qrt.name = "logits"}}) {{
  %c0 = arith.constant 0 : index
  %count = tensor.dim %x0, %c0 : tensor<?x12xf32>
{calls}
  %dense_weights = arith.constant dense_resource<dense_weights> : tensor<64x9xf32>
  %dense_bias = arith.constant dense_resource<dense_bias> : tensor<9xf32>
  %places = tensor.empty(%count) : tensor<?x9xf32>
  %biases = linalg.broadcast ins(%dense_bias : tensor<9xf32>) outs(%places : tensor<?x9xf32>) dimensions = [0]
  %logits = linalg.matmul ins(%h{STEPS}, %dense_weights : tensor<?x64xf32>, tensor<64x9xf32>)
      outs(%biases : tensor<?x9xf32>) -> tensor<?x9xf32>
  return %logits : tensor<?x9xf32>
}}
"""


def _blob(values: Array) -> str:
    """A resource's bytes in hexadecimal: their alignment, 4, as a little-endian i32, then the elements."""
    return "0x04000000" + values.astype("<f4").tobytes().hex().upper()
