"""Profiles: which rule another runtime follows for which op, as tables of data for a named version of it."""

from qrt.profiles.model import Profile, Range, Row
from qrt.profiles.quantization import for_kernels
from qrt.profiles.registry import PROFILES, profile

__all__ = ["PROFILES", "Profile", "Range", "Row", "for_kernels", "profile"]
