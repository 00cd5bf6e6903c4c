"""Profiles: which rule another runtime follows for which op, as tables of data for a named version of it."""

from qrt.models.profiles.model import PROFILES, Profile, Range, Row, for_kernels, profile

__all__ = ["PROFILES", "Profile", "Range", "Row", "for_kernels", "profile"]
