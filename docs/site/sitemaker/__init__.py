"""The documentation as a site: what stands around the generator. `make docs` runs all of it.

- `stage.py`: the repository's Markdown, moved to where the site has it, with links rewritten and lists of pages added.
- `command_pages.py`, `schema_pages.py`, `api_pages.py`: the reference, made from the program.
- `man_page.py`: the manual page, which `make generate` writes; `commands.py`: what it and the reference read.
- `tables.py`: Markdown tables.
- `check.py`: links, anchors, clicks and hosts of the built HTML.
- `__main__.py`: the verbs `stage`, `check` and `man`.
"""
