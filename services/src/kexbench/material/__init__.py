"""Keys, certificates and DH parameters of the cases: made once, with the same bytes for every subject.

- `make.py`: makes keys and certificates, and reads DH parameters. Start here. `keys.py`: private keys by name.
- `der.py`, `padding.py`, `ocsp.py`: certificates and OCSP responses of an exact size.
- `store.py`: the content-addressed folder; `hashed.py`: folders of trust anchors in it.
"""
