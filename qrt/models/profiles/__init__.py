"""Profiles: which rule another runtime follows for which op, as tables of data for a named version of it."""

from qrt.models.profiles.model import Profile, Range, Row
from qrt.models.profiles.quantization import for_kernels
from qrt.models.profiles.registry import PROFILES, profile

__all__ = ["PROFILES", "Profile", "Range", "Row", "for_kernels", "profile"]
