"""What every implementation of the port of leases does, and a fake in a file, which several processes share."""

import fcntl
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from kexbench.execution.argo.cluster import ClusterError
from kexbench.execution.leases import LEASE_S, Leases, LeaseView


class LeaseBed(Protocol):
    leases: Leases

    def pass_s(self, seconds: float) -> None:
        """Turns the clock of the implementation."""
        ...


class LeasesContract:
    """Subclasses have a fixture `lease_bed`."""

    def test_one_holds_a_lease_until_it_has_not_renewed_it_for_long(self, lease_bed: LeaseBed) -> None:
        hold = lease_bed.leases.hold
        assert [hold("api", "a"), hold("api", "b"), hold("api", "a")] == [True, False, True]
        lease_bed.pass_s(20)
        assert hold("api", "a")
        lease_bed.pass_s(20)
        assert not hold("api", "b")
        lease_bed.pass_s(11)
        assert [hold("api", "b"), hold("api", "a")] == [True, False]

    def test_the_holder_says_for_how_long_it_holds_it(self, lease_bed: LeaseBed) -> None:
        assert lease_bed.leases.hold("api", "a", 10)
        lease_bed.pass_s(9)
        assert not lease_bed.leases.hold("api", "b", 60)
        lease_bed.pass_s(2)
        assert lease_bed.leases.hold("api", "b", 60)

    def test_everybody_sees_who_holds_it_and_that_it_was_renewed(self, lease_bed: LeaseBed) -> None:
        leases = lease_bed.leases
        assert leases.view("api") == LeaseView()
        leases.hold("api", "a http://192.0.2.1:8350")
        first = leases.view("api")
        assert (first.holder, leases.view("api")) == ("a http://192.0.2.1:8350", first)
        lease_bed.pass_s(1)
        leases.hold("api", "a http://192.0.2.1:8350")
        assert leases.view("api").renewal != first.renewal

    def test_a_released_lease_is_free_at_once_and_only_its_holder_releases_it(self, lease_bed: LeaseBed) -> None:
        leases = lease_bed.leases
        leases.release("api", "a")
        assert leases.hold("api", "a")
        leases.release("api", "b")
        assert leases.view("api").holder == "a"
        leases.release("api", "a")
        assert leases.view("api").holder == ""
        assert [leases.hold("api", "b"), leases.hold("api", "a")] == [True, False]


class FileLeases:
    """A fake. While the file `away` is beside it, Kubernetes does not answer."""

    def __init__(self, file: Path, clock: Callable[[], float] = time.time) -> None:
        self._file = file
        self._clock = clock

    def view(self, name: str) -> LeaseView:
        with self._state() as state:
            holder, renewed_at, _ = state.get(name, ("", "", 0))
            return LeaseView(holder, str(renewed_at))

    def hold(self, name: str, identity: str, duration_s: int = LEASE_S) -> bool:
        with self._state() as state:
            holder, renewed_at, seconds = state.get(name, ("", 0, 0))
            if holder not in ("", identity) and self._clock() <= renewed_at + seconds:
                return False
            state[name] = [identity, self._clock(), duration_s]
            return True

    def release(self, name: str, identity: str) -> None:
        with self._state() as state:
            if state.get(name, ("",))[0] == identity:
                state[name][0] = ""

    @contextmanager
    def _state(self) -> Iterator[dict[str, Any]]:
        if self._file.with_name("away").exists():
            raise ClusterError("reading lease api: connection refused\n  remedy: is the API server up?")
        with self._file.open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            state: dict[str, Any] = json.loads(file.read() or "{}")
            yield state
            file.truncate(0)
            file.write(json.dumps(state))
