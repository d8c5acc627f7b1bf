"""How often this process looks for garbage."""

import gc

_ALLOCATIONS, _YOUNG, _MIDDLE = 200_000, 25, 25
"""Of objects that may be in cycles, between two collections of the youngest; then how many of these, and of the next
older ones, between two of the next. Python's own are 700, 10 and 10."""


def collect_seldom() -> None:
    """What a command imports is hundreds of thousands of objects, none of them garbage, and looking through them again
    and again is a tenth of its CPU time. In a service a full collection stops all threads, for half a second with a
    large store, and by default comes several times in each computation, although there is little to collect."""
    gc.set_threshold(_ALLOCATIONS, _YOUNG, _MIDDLE)
