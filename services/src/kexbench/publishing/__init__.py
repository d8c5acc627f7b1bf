"""The dashboard as a static site.

- `site.py`: its writer. Start here. `replacing.py`: the new folder replaces the old one whole.
- `files.py`: the names of its files; `narrowing.py`: what they show of the API's answers.
"""
