"""Packages that qrt runs without: imported when they are used, with an error that says how to install them."""

from importlib import import_module
from types import ModuleType


def extra(module: str, name: str) -> ModuleType:
    """The module of an extra. Raises ImportError with the command that installs the extra called ``name``."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'{package} is needed, which is not installed: pip install "qrt[{name}]"') from error
