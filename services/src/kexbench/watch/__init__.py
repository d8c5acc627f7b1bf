"""Watches git repositories and has the specs of their commits measured.

It keeps nothing but a copy of each repository: how far a branch was looked through, the API says, and what is asked of
it can be asked again. So it may end at any time and begin again.
"""
