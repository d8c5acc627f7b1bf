"""Turns runs of the API into workflows on a cluster, and reports their results to the API.

- `loop.py`: the dispatcher, which keeps nothing (docs/adr/0008). Start here.
- `control.py`: its requests to the API; `health.py`: its endpoints for the kubelet and Prometheus.
- `wiring.py`: connects it with the API, the cluster and the pools of the settings.
"""

from kexbench.dispatcher.control import ApiControl, Control, QueuePosition
from kexbench.dispatcher.loop import INTERVAL_S, LEASE, LONGEST_WAIT_S, Dispatcher

__all__ = ["INTERVAL_S", "LEASE", "LONGEST_WAIT_S", "ApiControl", "Control", "Dispatcher", "QueuePosition"]
