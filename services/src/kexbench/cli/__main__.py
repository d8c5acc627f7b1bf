"""`python -m kexbench.cli`: the command line, for processes that start `kexbench`."""

from kexbench.cli.main import main

main()
