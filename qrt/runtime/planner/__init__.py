"""Modules of the planner: the places of values, and the steps of a plan."""
