"""Whole models, in qrt and in LiteRT."""
