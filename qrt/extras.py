"""Imports of optional packages on first use. If one is missing, the error names the command that installs it."""

from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from qrt.errors import MissingPackageError


def require_installed(package: str, name: str) -> None:
    """Raise MissingPackageError if an optional package is not installed; the error names qrt's extra that installs it.

    The package is not imported. ``name`` is the extra: "onnx" in ``pip install "qrt[onnx]"``.
    """
    with suppress(ImportError):  # a package that an import hook refuses
        if find_spec(package) is not None:
            return
    raise _missing(package, "is not installed", name)


def _missing(package: str, why: str, name: str) -> MissingPackageError:
    return MissingPackageError(f'the package {package} is needed and {why}: install it by pip install "qrt[{name}]"')


def extra(module: str, name: str) -> ModuleType:
    """Import an optional module, which the extra ``name`` of qrt installs.

    Raise MissingPackageError if the module cannot be imported. The message has the command that installs the extra.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        is_absent = (error.name or package).partition(".")[0] == package
        why = "is not installed" if is_absent else f"cannot be imported ({' '.join(str(error).split())})"
        raise _missing(package, why, name) from error
