"""Tables of operations, passes, commands, importers, profiles, engines and targets by name.

Each package that has such objects defines a table. An entry is an object, or a text (``"module:attribute"``) that names
an object to import on first use. Installed packages add entries by entry points of the table's group.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from qrt.errors import QuantError, nearest, shown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


def import_place(place: str) -> Any:
    """Import the object at ``module:attribute``, or a module.

    >>> import_place("math:pi"), import_place("math").__name__
    (3.141592653589793, 'math')
    """
    module, _, attribute = place.partition(":")
    loaded = import_module(module)
    return getattr(loaded, attribute) if attribute else loaded


def places_by_name(package: str, names_by_place: Mapping[str, str]) -> dict[str, Any]:
    """Return a ``{name: "module:attribute"}`` mapping for a package, given several names for each place in it.

    >>> places_by_name("package", {"module:function": "A B"})
    {'A': 'package.module:function', 'B': 'package.module:function'}
    """
    places: dict[str, Any] = {}
    for place, names in names_by_place.items():
        for name in names.split():
            assert name not in places, f"{name} is registered already, at {places[name]}"
            places[name] = f"{package}.{place}"
    return places


@cache
def installed(group: str) -> "dict[str, EntryPoint]":
    """Return the entry points of a group, by name."""
    from importlib.metadata import entry_points  # here: it reads mail headers, and takes as long as a tenth of qrt

    return {entry.name: entry for entry in entry_points(group=group)}


class Registry(Mapping[str, T]):
    """A table of objects by name.

    The entry points of installed packages are read when a name is not built in, or when all names are listed. Their
    names follow the built-in names.

    Parameters
    ----------
    kind : str
        The noun that messages call an entry.
    entries : mapping of str to object or str
        The built-in entries: objects, or texts that ``load`` turns into objects.
    group : str, optional
        The group of the entry points by which installed packages add entries.
    check : callable, optional
        A function ``check(name, object)`` that returns the object, or raises a QuantError if the table cannot have it.
    load : callable, optional
        A function that returns the object for the text of an entry. The default imports ``"module:attribute"``.

    Examples
    --------
    >>> constants = Registry("constant", {"pi": "math:pi", "e": "math:e"})
    >>> constants["pi"]
    3.141592653589793
    >>> constants.unknown("pie")
    "there is no constant 'pie': did you mean 'pi'? There are pi, e"
    """

    def __init__(
        self,
        kind: str,
        entries: Mapping[str, T | str],
        *,
        group: str = "",
        check: Callable[[str, Any], T] | None = None,
        load: Callable[[str], Any] = import_place,
    ) -> None:
        self.kind = kind
        self.own = tuple(entries)
        """The names of qrt's entries."""
        self._entries: dict[str, T | str] = dict(entries)
        self._group = group
        self._check = check
        self._load = load

    def __getitem__(self, name: str) -> T:
        entry = self._entries.get(name)
        if entry is None:
            entry = self._load_installed(name)
        elif isinstance(entry, str):
            entry = self._checked(name, self._load(entry))
        self._entries[name] = entry
        return entry

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._installed()

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._entries, *self._installed())))

    def __len__(self) -> int:
        return len(self._entries.keys() | self._installed().keys())

    def unknown(self, name: object) -> str:
        """Return the error message for an unknown name, with the most similar name of the table and all names."""
        meant = nearest(name, self) if isinstance(name, str) else None
        hint = "" if meant is None else f"did you mean {meant!r}? "
        return f"there is no {self.kind} {shown(name)}: {hint}{'There' if hint else 'there'} are {', '.join(self)}"

    def add(self, name: str, entry: T, *, replaces: bool = False) -> None:
        """Add an entry under a name.

        Raises QuantError if qrt itself has an entry of this name. An entry of a user is replaced if ``replaces`` is
        True. A class also replaces an older class of the same module and name, because notebooks define classes again.
        Otherwise a name that is taken raises QuantError.
        """
        entry = self._checked(name, entry)
        known = self._entries.get(name)
        if name in self.own or not (replaces or known is None or _place(known) == _place(entry)):
            raise QuantError(f"a {self.kind} named {shown(name)} is registered already")
        self._entries[name] = entry

    def _checked(self, name: str, entry: Any) -> T:
        checked: T = entry if self._check is None else self._check(name, entry)
        return checked

    def _installed(self) -> "dict[str, EntryPoint]":
        return installed(self._group) if self._group else {}

    def _load_installed(self, name: str) -> T:
        entry = self._installed()[name]
        try:
            return self._checked(name, entry.load())
        except Exception as error:  # a package of somebody else's may raise anything
            raise QuantError(
                f"the {self.kind} {shown(name)} cannot be loaded from the entry point {entry.value}: {error}"
            ) from error


def _place(entry: object) -> object:
    """Return ``"module:qualname"`` for a class, to compare it with an entry's text; any other object stays as it is."""
    return f"{entry.__module__}:{entry.__qualname__}" if isinstance(entry, type) else entry
