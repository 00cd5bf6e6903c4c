"""Profiles: tables of the rounding rule that a named version of another runtime uses for each op."""

from qrt.models.profiles.model import PROFILES, Profile, Range, Row, for_kernels, profile

__all__ = ["PROFILES", "Profile", "Range", "Row", "for_kernels", "profile"]
