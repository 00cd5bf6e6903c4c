"""Reading programs from MLIR text and from TFLite and ONNX models, and writing programs as ONNX models."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

import qrt.ir as ir
from qrt.errors import ModelError, QuantTypeError, require, shown
from qrt.files import MAX_INPUT, bytecode_error, read_text
from qrt.ir.core.operations import garbage_uncollected
from qrt.models.profiles import Profile, for_kernels
from qrt.models.profiles import profile as profile_of
from qrt.registry import Registry

IMPORTERS: Registry[Callable[[Path, Profile, int, Mapping[str, Sequence[int]]], tuple[ir.Module, str]]] = Registry(
    "importer",
    {
        ".onnx": "qrt.models.onnx.importing:import_file",
        ".tflite": "qrt.models.tflite.importing:import_file",
    },
)
"""The importers, by file suffix: ``import_file(file, profile, max_bytes, shapes)`` returns the program and the
importer's report."""
EXPORTERS: Registry[Callable[[str | PathLike[str], ir.Module, str | None], None]] = Registry(
    "exporter", {".onnx": "qrt.models.onnx.export:export_file"}
)
"""The exporters, by file suffix: ``export_file(path, program, function)``."""
MAX_MODEL = 2 << 30
"""The default limit of the memory in bytes that a model's description and declared tensors may take."""
_PROFILES = {".onnx": "ort"}
"""The default profile of each file suffix for which the default is not "litert"."""


def load(
    path: str | Path,
    *,
    profile: str | None = None,
    allow_unregistered: bool = False,
    max_bytes: int | None = None,
    for_quantization: bool = False,
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> ir.Module:
    """Read a program from a file without verifying it. TFLite and ONNX models are imported.

    Parameters
    ----------
    path : str or Path
        A file whose name ends in ``.mlir``, in ``.tflite`` (docs/reference/tflite.md) or in ``.onnx``
        (docs/reference/onnx.md).
    profile : str, optional
        The runtime whose arithmetic the imported program has: "litert", "litert-ref" (LiteRT's reference kernels) or
        "ort" (ONNX Runtime). The default is "litert" for a TFLite model and "ort" for an ONNX model.
    allow_unregistered : bool, default False
        True keeps operations and types of dialects that qrt does not know; False makes them a ParseError.
    max_bytes : int, optional
        For MLIR text, the largest size of the file, 1 GiB by default. For a model, the largest memory that it may take,
        without its constants, 2 GiB by default.
    for_quantization : bool, default False
        True imports float operators in the form that the pass ``fuse-kernels`` recognises, with float weights. False
        imports every sum in the order in which the runtime adds.
    shapes : mapping of str to sequence of int, optional
        For a model, the shapes with which inputs are imported, by the names of the program's arguments, such as
        ``{"x": (1, 96, 96, 1)}``. They replace the shapes in the file. For an ONNX model they may only set dynamic
        dimensions: a size that differs from a static size in the file is a ModelError.

    Returns
    -------
    ir.Module

    Raises
    ------
    ModelError
        If the file cannot be read, is larger than ``max_bytes``, has another suffix, or is a model that is malformed or
        not supported.
    ParseError
        If the text is not MLIR.
    QuantTypeError
        If the profile does not exist or belongs to another format, or if an argument has a wrong type.

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
        shapes=shapes,
    )[0]


def load_reported(
    path: str | Path,
    *,
    profile: str | None = None,
    allow_unregistered: bool = False,
    max_bytes: int | None = None,
    for_quantization: bool = False,
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> tuple[ir.Module, str]:
    """Return the program that `load` reads, and the importer's report.

    The report of an ONNX model says which operators between DequantizeLinear and QuantizeLinear became quantized ones.
    It is empty for other files.
    """
    require(max_bytes, (int, type(None)), "max_bytes", "an integer")
    require(path, (str, PathLike), "the path of a program", "a string or a path")
    require(for_quantization, bool, "for_quantization", "True or False")
    given = _checked_shapes(shapes)
    file = Path(path)
    chosen = profile_of(_PROFILES.get(file.suffix, "litert") if profile is None else profile)
    if file.suffix in IMPORTERS and chosen.suffix != file.suffix:
        raise QuantTypeError(
            f"{file}: profile {chosen.name!r} is for {chosen.suffix} files, and cannot be used for this file"
        )
    if for_quantization:
        chosen = for_kernels(chosen)
    limit = MAX_MODEL if max_bytes is None else max_bytes
    if file.suffix in IMPORTERS:
        with garbage_uncollected():
            return IMPORTERS[file.suffix](file, chosen, limit, given)
    if given:
        raise QuantTypeError(f"{file}: shapes= (--input-shape) can be given for .tflite and .onnx models only")
    if file.suffix == ".mlirbc":
        raise bytecode_error(str(file))
    if file.suffix != ".mlir":
        suffix = shown(file.suffix) if file.suffix else "no suffix"
        raise ModelError(f"{file}: the name of a program must end in .mlir, .tflite or .onnx, got {suffix}")
    text = read_text(str(file), MAX_INPUT if max_bytes is None else max_bytes, streams=False)
    return ir.parse(text, filename=str(file), allow_unregistered=allow_unregistered), ""


def _checked_shapes(shapes: Mapping[str, Sequence[int]] | None) -> dict[str, tuple[int, ...]]:
    """Return the user's shapes as tuples by input name. Raise QuantTypeError unless all sizes are positive integers."""
    require(shapes, (Mapping, type(None)), "shapes", "a mapping from names of inputs to shapes")
    checked: dict[str, tuple[int, ...]] = {}
    for name, shape in (shapes or {}).items():
        require(name, str, "a key of shapes", "the name of an input")
        require(shape, (Sequence, np.ndarray), f"shapes[{name!r}]", "a sequence of sizes")
        for size in shape:
            require(size, (int, np.integer), f"a size of shapes[{name!r}]", "a positive integer")
            if size < 1:
                raise QuantTypeError(f"a size of shapes[{name!r}] must be a positive integer, got {size}")
        checked[name] = tuple(map(int, shape))
    return checked


def export_onnx(path: str | PathLike[str], program: ir.Module, *, function: str | None = None) -> None:
    """Write a program as a QDQ model of ONNX: float operators between DequantizeLinear and QuantizeLinear.

    Images are NCHW in the model: a Transpose converts from and to the program's NHWC. The opset is the lowest that has
    all the operators used. Rounding rules, which ONNX cannot express, are written to ``metadata_props``
    (docs/reference/export_onnx.md); ``qrt.load`` reads them, so the loaded program computes the same bits.

    Parameters
    ----------
    path : str or PathLike
        The path of the model, which ends in ``.onnx``. An existing file is replaced.
    program : qrt.ir.Module
        A verified program of ops of ``qrt``, ``quant``, and elementwise ``arith`` and ``math`` on tensors.
    function : str, optional
        The function to export. The default is ``main``, or the only function of the program.

    Raises
    ------
    ModelError
        If ONNX cannot express an operation (the error lists all of these), if the model is larger than 2 GiB, if the
        path does not end in ``.onnx``, or if the program has no such function.
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
