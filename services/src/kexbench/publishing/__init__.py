"""The dashboard as a static site.

- `site.py`: its writer. Start here. `replacing.py`: the new folder replaces the old one whole.
- `files.py`: the names of its files; `joins.py`: the answers that its pages put together.
"""
