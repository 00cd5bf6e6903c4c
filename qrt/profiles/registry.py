"""The profiles by name."""

from qrt.errors import QuantTypeError, nearest, shown
from qrt.profiles.litert import LITERT
from qrt.profiles.litert_ref import LITERT_REF
from qrt.profiles.model import Profile
from qrt.profiles.ort import ORT

PROFILES = {each.name: each for each in (LITERT, LITERT_REF, ORT)}
"""Every profile, by its name."""


def profile(name: str) -> Profile:
    """The profile of a name.

    >>> profile("litert").runtime
    'ai-edge-litert 2.3'
    """
    found = PROFILES.get(name) if isinstance(name, str) else None
    if found is None:
        meant = nearest(name, PROFILES) if isinstance(name, str) else None
        hint = "" if meant is None else f": did you mean {meant!r}?"
        raise QuantTypeError(f"no profile is called {shown(name)}{hint}; there are {', '.join(PROFILES)}")
    return found
