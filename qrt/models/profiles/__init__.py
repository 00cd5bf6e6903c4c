"""Profiles: tables of the rounding rule for each op in a named version of another runtime."""

from qrt.models.profiles.model import PROFILES, Profile, Range, Row, for_kernels, profile

__all__ = ["PROFILES", "Profile", "Range", "Row", "for_kernels", "profile"]
