"""`python -m kexbench.cli`: the command line, for processes that start it."""

from kexbench.cli.main import main

main()
