"""Turns runs of the API into workflows on a cluster, and reports their results to the API."""

from kexbench.dispatcher.control import ApiControl, Control, QueuePosition
from kexbench.dispatcher.loop import INTERVAL_S, LEASE, LONGEST_WAIT_S, Dispatcher

__all__ = ["INTERVAL_S", "LEASE", "LONGEST_WAIT_S", "ApiControl", "Control", "Dispatcher", "QueuePosition"]
