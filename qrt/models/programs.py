"""Programs from files, and back: MLIR text, and models of other runtimes, which are imported and exported."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path

import qrt.ir as ir
from qrt.errors import ModelError, QuantTypeError, require
from qrt.files import MAX_INPUT, bytecode_error, read_text
from qrt.ir.core.operations import garbage_uncollected
from qrt.models.profiles import Profile, for_kernels
from qrt.models.profiles import profile as profile_of
from qrt.registry import Registry

IMPORTERS: Registry[Callable[[Path, Profile, int], tuple[ir.Module, str]]] = Registry(
    "importer",
    {
        ".onnx": "qrt.models.onnx.importing:import_file",
        ".tflite": "qrt.models.tflite.importing:import_file",
    },
)
"""The functions that import models, by the ends of their names: ``import_file(file, profile, max_bytes)`` gives the
program and what the importer reports."""
EXPORTERS: Registry[Callable[[str | PathLike[str], ir.Module, str | None], None]] = Registry(
    "exporter", {".onnx": "qrt.models.onnx.export:export_file"}
)
"""The functions that export programs, by the ends of the names of files: ``export_file(path, program, function)``."""
MAX_MODEL = 2 << 30
"""The memory that a model's description and declared tensors take, unless a caller says another limit."""
_PROFILES = {".onnx": "ort"}
"""The profiles of models, where it is another than LiteRT's default build."""


def load(
    path: str | Path,
    *,
    profile: str | None = None,
    allow_unregistered: bool = False,
    max_bytes: int | None = None,
    for_quantization: bool = False,
) -> ir.Module:
    """Reads a program from a file, without verifying it. A model of TFLite or ONNX is imported.

    Parameters
    ----------
    path : str or Path
        A file whose name ends in ``.mlir``, in ``.tflite`` (docs/reference/tflite.md) or in ``.onnx``
        (docs/reference/onnx.md).
    profile : str, optional
        The runtime whose arithmetic a model gets: "litert", or "litert-ref" for its reference kernels, or "ort". If it
        is not given, a model of TFLite gets "litert", and one of ONNX "ort".
    allow_unregistered : bool, default False
        True keeps operations and types of dialects that qrt does not know; False makes them a ParseError.
    max_bytes : int, optional
        The size of the largest text that is read, 1 GiB if not given. Of a model it bounds what it takes in memory
        beside its constants, 2 GiB if not given.
    for_quantization : bool, default False
        True writes the float operators of a model as the pass ``fuse-kernels`` recognises them, and weights of float
        operators as floats; False writes every sum in the order in which the runtime adds.

    Returns
    -------
    ir.Module

    Raises
    ------
    ModelError
        If the file cannot be read, is larger, has another suffix, or is a model that is wrong or needs what is not
        supported.
    ParseError
        If the text is not MLIR.
    QuantTypeError
        If there is no such profile, it is of another format, or another argument is of another type.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "f.mlir")
    ...     _ = file.write_text("func.func @f(%x: i32) -> i32 { return %x : i32 }")
    ...     load(file).functions[0].sym_name
    'f'
    """
    return load_reported(
        path,
        profile=profile,
        allow_unregistered=allow_unregistered,
        max_bytes=max_bytes,
        for_quantization=for_quantization,
    )[0]


def load_reported(
    path: str | Path,
    *,
    profile: str | None = None,
    allow_unregistered: bool = False,
    max_bytes: int | None = None,
    for_quantization: bool = False,
) -> tuple[ir.Module, str]:
    """What `load` gives, and what the importer reports: of a model of ONNX which operators beside casts are folded."""
    require(max_bytes, (int, type(None)), "max_bytes", "an integer")
    require(path, (str, PathLike), "the path of a program", "a string or a path")
    require(for_quantization, bool, "for_quantization", "True or False")
    file = Path(path)
    found = profile_of(_PROFILES.get(file.suffix, "litert") if profile is None else profile)
    if file.suffix in IMPORTERS and found.suffix != file.suffix:
        raise QuantTypeError(f"{file}: profile {found.name!r} is for {found.suffix} files")
    if for_quantization:
        found = for_kernels(found)
    most = MAX_MODEL if max_bytes is None else max_bytes
    if file.suffix in IMPORTERS:
        with garbage_uncollected():
            return IMPORTERS[file.suffix](file, found, most)
    if file.suffix == ".mlirbc":
        raise bytecode_error(str(file))
    if file.suffix != ".mlir":
        suffix = file.suffix or "files without a suffix"
        raise ModelError(f"{file}: only .mlir, .tflite and .onnx files are supported, not {suffix}")
    text = read_text(str(file), MAX_INPUT if max_bytes is None else max_bytes, streams=False)
    return ir.parse(text, filename=str(file), allow_unregistered=allow_unregistered), ""


def export_onnx(path: str | PathLike[str], program: ir.Module, *, function: str | None = None) -> None:
    """Write a program as a QDQ model of ONNX: float operators between DequantizeLinear and QuantizeLinear.

    Images are NCHW in the model, and a Transpose stands where a program's NHWC begins and ends. The opset is the lowest
    that has all forms. What ONNX cannot say, the rules of rounding, stands in ``metadata_props``
    (docs/reference/export_onnx.md): read back by ``qrt.load``, the program computes the same bits.

    Parameters
    ----------
    path : str or PathLike
        Where the model goes; its name ends in ``.onnx``. A file that exists is replaced.
    program : qrt.ir.Module
        A verified program of ops of ``qrt``, ``quant``, and elementwise ``arith`` and ``math`` on tensors.
    function : str, optional
        The function that is written: main, or the only one, if not given.

    Raises
    ------
    ModelError
        If ONNX cannot say an operation: one error lists all of them. If the model has more than 2 GiB, the name of the
        file ends otherwise, or the program has no such function.
    FileError
        If the file cannot be written.
    ImportError
        If the package ``onnx`` is missing, which ``pip install "qrt[onnx]"`` installs.

    Examples
    --------
    >>> import tempfile, qrt
    >>> program = qrt.ir.parse('''
    ... !q = !quant.uniform<i8:f32, 0.5>
    ... func.func @main(%x: tensor<2x!q> {qrt.name = "x"}) -> (tensor<2x!q> {qrt.name = "y"}) {
    ...   %0 = qrt.add %x, %x {requant = "fixed_double"} : (tensor<2x!q>, tensor<2x!q>) -> tensor<2x!q>
    ...   return %0 : tensor<2x!q>
    ... }''')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     qrt.models.export_onnx(f"{folder}/sum.onnx", program)
    ...     loaded = qrt.load(f"{folder}/sum.onnx")
    >>> loaded.functions[0].regions[0].blocks[0].operations[0].attributes["requant"].python
    'fixed_double'
    """
    require(path, (str, PathLike), "the path of a model", "a string or a path")
    require(program, ir.Module, "export_onnx: program", "a module")
    EXPORTERS[".onnx"](path, program, function)
