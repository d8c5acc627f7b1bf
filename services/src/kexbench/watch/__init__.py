"""Watches git repositories and requests the runs of their commits.

It keeps only a copy of each repository. The API knows the last handled commit of each branch, and every request can be
repeated, so the watcher can stop and restart at any time.
"""
