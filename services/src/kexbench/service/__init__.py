"""The service as one process: whoever needs the store either reaches the process that has it or becomes it."""

from kexbench.service.reach import ServiceUnavailable, lasting_service, own_store, reach_service

__all__ = ["ServiceUnavailable", "lasting_service", "own_store", "reach_service"]
