"""The service as one process. A command uses the process that serves the store, or becomes it."""

from kexbench.service.reach import ServiceUnavailable, lasting_service, own_store, reach_service

__all__ = ["ServiceUnavailable", "lasting_service", "own_store", "reach_service"]
