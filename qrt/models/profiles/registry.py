"""The profiles by name."""

from qrt.errors import QuantTypeError
from qrt.models.profiles.model import Profile
from qrt.registry import Registry

PROFILES: Registry[Profile] = Registry(
    "profile",
    {
        "litert": "qrt.models.profiles.litert:LITERT",
        "litert-ref": "qrt.models.profiles.litert_ref:LITERT_REF",
        "ort": "qrt.models.profiles.ort:ORT",
    },
)
"""Every profile, by its name."""


def profile(name: str) -> Profile:
    """Return the profile of a name. QuantTypeError if there is none.

    >>> profile("litert").runtime
    'ai-edge-litert 2.3'
    """
    if not isinstance(name, str) or name not in PROFILES:
        raise QuantTypeError(PROFILES.unknown(name))
    return PROFILES[name]
