"""The dashboard as a static site: its writer (`site.py`), the names of its files (`files.py`), and the answers that its
pages put together (`joins.py`).
"""
