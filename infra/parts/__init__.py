"""What kexbench is made of, by others: is it current, is it safe.

`outdated.py` and `audit.py` are `make outdated` and `make audit`, `files.py` knows where parts are named, and
`exceptions.yaml` has what is left as it is, each with its reason.
"""
