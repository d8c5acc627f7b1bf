"""kexbench: continuous benchmarking of TLS key exchange."""

__version__ = "0.2.0"
