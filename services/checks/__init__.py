"""Checks of `make check` that no linter has."""
