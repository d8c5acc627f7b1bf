"""The dashboard as a static site: the writer (`site.py`), the names of its files (`files.py`), and answers that the pages
put together (`joins.py`).
"""
