"""Python files of users that register ops, passes and targets, loaded by their paths."""

import sys
import traceback
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from qrt.errors import ModelError, shown
from qrt.files import reason


def load_plugin(file: str) -> ModuleType:
    """Run a user's Python file and return it as a module, named after the file without its suffix.

    The file runs once: later calls return the same module, and another plugin may import it. Raises ModelError if the
    file does not load; the message names the line.
    """
    path = Path(file).absolute()
    loaded = sys.modules.get(path.stem)
    if loaded is not None and getattr(loaded, "__file__", None) == str(path):
        return loaded
    if loaded is not None or path.stem in sys.stdlib_module_names:
        raise ModelError(
            f"the plugin {shown(file)} does not load: a module named {path.stem!r} exists already: rename the file"
        )
    spec = spec_from_file_location(path.stem, path)
    if path.suffix != ".py" or spec is None or spec.loader is None:
        raise ModelError(f"the plugin {shown(file)} does not load: it must be a Python file, FILE.py")
    module = sys.modules[path.stem] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # a user's file may raise any exception
        del sys.modules[path.stem]
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        lines += [error.lineno] if isinstance(error, SyntaxError) and error.filename == str(path) else []
        where = f" line {lines[-1]}:" if lines else ""
        raise ModelError(
            f"the plugin {shown(file)} does not load:{where} {type(error).__name__}: {_text_of(error)}"
        ) from error
    return module


def _text_of(error: Exception) -> object:
    return reason(error) if isinstance(error, OSError) else error.msg if isinstance(error, SyntaxError) else error
