"""Tells forges what became of commits: a status for each spec, sent when it is another one than before."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from threading import Event

from kexbench.api.commit_models import CheckView, CommitView
from kexbench.domain.runs import RunState
from kexbench.forges import CommitStatus, Forge, ForgeError
from kexbench.forges.port import State
from kexbench.watch.control import Control, ControlError

LASTING = timedelta(days=3)
"""What happened to older commits, nobody waits for any more."""
_STATES: Mapping[RunState, State] = {
    RunState.FINISHED: "success",
    RunState.FAILED: "error",
    RunState.CANCELLED: "error",
}


class Announcer:
    """Keeps nothing but what it sent; begun anew, the forge is asked what it shows already."""

    def __init__(
        self,
        control: Control,
        forges: Mapping[str, Forge],
        pages_url: str,
        clock: Callable[[], datetime],
        say: Callable[[str], None],
    ) -> None:
        """`forges` by the repository's name; `pages_url` is where people reach the dashboard."""
        self._control = control
        self._forges = forges
        self._pages_url = pages_url.rstrip("/")
        self._clock = clock
        self._say = say
        self._sent: dict[tuple[str, str], CommitStatus] = {}
        self._again_at: dict[str, datetime] = {}
        self._troubles: dict[str, str] = {}
        """What was told of each repository, so that it is told once."""

    def run(self, ending: Event, interval_s: float) -> None:
        while not ending.is_set():
            self.once()
            ending.wait(interval_s)

    def once(self) -> bool:
        """Tell every forge what it doesn't show yet; whether all took it."""
        told = [self._announce(name, forge) for name, forge in self._forges.items()]
        return all(told)

    def _announce(self, name: str, forge: Forge) -> bool:
        """A forge that refuses now holds up no other, and is asked again when it says."""
        if self._again_at.get(name, self._clock()) > self._clock():
            return False
        try:
            for commit in self._control.commits(name):
                if commit.handled_at > self._clock() - LASTING:
                    self._set_statuses(forge, commit)
        except (ForgeError, ControlError) as error:
            if isinstance(error, ForgeError) and error.again_at is not None:
                self._again_at[name] = error.again_at
            if self._troubles.get(name) != str(error):
                self._say(f"repository {name}: {error}")
            self._troubles[name] = str(error)
            return False
        self._troubles.pop(name, None)
        return True

    def _set_statuses(self, forge: Forge, found: CommitView) -> None:
        for check in found.checks:
            status = status_of(check, self._pages_url)
            key = (found.commit.commit, status.context)
            if self._sent.get(key) != status:
                forge.set_status(found.commit.commit, status)
                self._sent[key] = status


def status_of(check: CheckView, pages_url: str) -> CommitStatus:
    """What a forge shows of a spec: while its run has not ended `pending`, with faults `error`."""
    context = f"kexbench/{check.path}"
    if check.run_id is None or check.state is None:
        return CommitStatus(context, "error", "; ".join(check.faults), f"{pages_url}/commits")
    detail = f": {check.detail}" if check.detail else ""
    return CommitStatus(
        context, _STATES.get(check.state, "pending"), f"{check.state}{detail}", f"{pages_url}/runs/{check.run_id}"
    )
