"""What the tests of this room take from others."""

from tests.api.conftest import client_of

__all__ = ["client_of"]
