"""The version, read by the build and by ``qrt --version``."""

__version__ = "0.1.0"
