"""From runs that the API holds to workflows on a cluster, and back to what became of them."""

from kexbench.dispatcher.control import ApiControl, Control, Turn
from kexbench.dispatcher.loop import INTERVAL_S, LEASE, LONGEST_WAIT_S, Dispatcher

__all__ = ["INTERVAL_S", "LEASE", "LONGEST_WAIT_S", "ApiControl", "Control", "Dispatcher", "Turn"]
