"""Profiles: tables of the rounding rules of other runtimes. A profile is for one version of a runtime."""

from qrt.models.profiles.model import PROFILES, Profile, Range, Row, for_kernels, profile

__all__ = ["PROFILES", "Profile", "Range", "Row", "for_kernels", "profile"]
