"""``--load-dialect-plugin`` and ``--load-pass-plugin``: Python files that register ops and passes."""

import argparse
import sys
import traceback
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from qrt.errors import ModelError, shown
from qrt.files import reason

_FLAGS = {
    "--load-dialect-plugin": "run a Python file that calls qrt.ir.register_dialect",
    "--load-pass-plugin": "run a Python file that calls qrt.ir.register_pass",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the files. Each may be given several times."""
    for flag, text in _FLAGS.items():
        parser.add_argument(flag, action="append", default=[], metavar="FILE.py", help=text)


def load_plugins(given: Sequence[str]) -> None:
    """Run the files that the arguments name, in their order.

    Other options are parsed afterwards, because a file may add to them. Raises ModelError if a file does not load.
    """
    finder = argparse.ArgumentParser(prog="qrt", add_help=False, allow_abbrev=False)
    for flag in _FLAGS:
        finder.add_argument(flag, flag[1:], action="append", default=[], dest="files", metavar="FILE.py")
    if any(argument.lstrip("-").startswith("load-") for argument in given):
        for file in finder.parse_known_args(given)[0].files:
            _load(file)


def _load(file: str) -> None:
    """Run a file once, as a module named by its stem, so that another file may import it."""
    path = Path(file).absolute()
    there = sys.modules.get(path.stem)
    if there is not None and getattr(there, "__file__", None) == str(path):
        return
    if there is not None or path.stem in sys.stdlib_module_names:
        raise ModelError(f"the plugin {shown(file)} does not load: there is a module {path.stem!r} already, rename it")
    spec = spec_from_file_location(path.stem, path)
    if path.suffix != ".py" or spec is None or spec.loader is None:
        raise ModelError(f"the plugin {shown(file)} does not load: it must be a file of Python, FILE.py")
    module = sys.modules[path.stem] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the file of somebody else may raise anything
        del sys.modules[path.stem]
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        lines += [error.lineno] if isinstance(error, SyntaxError) and error.filename == str(path) else []
        where = f" line {lines[-1]}:" if lines else ""
        raise ModelError(
            f"the plugin {shown(file)} does not load:{where} {type(error).__name__}: {_message(error)}"
        ) from error


def _message(error: Exception) -> object:
    return reason(error) if isinstance(error, OSError) else error.msg if isinstance(error, SyntaxError) else error
