"""What the watcher asks for: the port; the API behind it, or what the API does itself."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from kexbench.api.commit_models import CommitPage, CommittedSpec, CommitView
from kexbench.api.commits import begin_committed, newest_commits
from kexbench.api.control_models import DryRunRequest, DryRunView
from kexbench.api.dry_runs import dry_run_of
from kexbench.api.following import begin_followed, followed_views
from kexbench.api.following_models import FollowedSpec, FollowedView
from kexbench.api.problems import ProblemError
from kexbench.api.verdicts import Verdicts
from kexbench.api.webhooks import Doorbell
from kexbench.domain.commits import Check, HandledCommit
from kexbench.domain.following import FollowedCommit
from kexbench.domain.refusals import Refusal
from kexbench.domain.verdicts import RunVerdict
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import Store, StoreError
from kexbench.uplink import Refused, Unreachable, Uplink

_COMMITS = 50


class ControlError(Exception):
    """The API refused or could not be asked; the text says what to do."""


class Control(Protocol):
    """All of it raises ControlError, and all of it can be repeated."""

    def heads(self, repository: str) -> Mapping[str, str]:
        """The commit of each branch that was handled last."""
        ...

    def run(self, asked: CommittedSpec) -> Check:
        """Have a spec measured, once; tells its run or its faults."""
        ...

    def plan(self, asked: CommittedSpec) -> Check:
        """Have a spec planned; tells its dry run or its faults, or its run where there is one already."""
        ...

    def verdict(self, run_id: str) -> RunVerdict:
        """Of a run that has ended."""
        ...

    def handled(self, handled: HandledCommit) -> None: ...
    def rings(self) -> Mapping[str, int]:
        """How often webhooks rang for each repository."""
        ...

    def commits(self, repository: str) -> Sequence[CommitView]:
        """The newest that say something of a spec, with the states of their runs."""
        ...


class FollowControl(Protocol):
    """What following branches asks for. All of it raises ControlError, and all of it can be repeated."""

    def followed(self, repository: str) -> Sequence[FollowedView]:
        """How far each branch was looked through that a spec of the repository follows."""
        ...

    def run_followed(self, asked: FollowedSpec) -> Check:
        """Have a commit of a library measured, once; tells its run or the spec's faults."""
        ...

    def note_followed(self, noted: FollowedCommit) -> None: ...


class WatchControl(Control, FollowControl, Protocol):
    """All that a watcher with everything beside it asks for."""


class ApiControl:
    """Implements WatchControl. The uplink's patience is short: the watcher looks again anyway."""

    def __init__(self, api: Uplink) -> None:
        self._api = api

    def heads(self, repository: str) -> Mapping[str, str]:
        with _telling():
            return self._api.get(dict[str, str], f"/repositories/{repository}/heads")

    def run(self, asked: CommittedSpec) -> Check:
        with _telling():
            answer = self._api.send("POST", f"/repositories/{asked.commit.repository}/runs", asked)
        return Check.model_validate_json(answer.content)

    def plan(self, asked: CommittedSpec) -> Check:
        with _telling():
            answer = self._api.send("POST", "/dry-runs", _dry(asked))
        return _check(asked, DryRunView.model_validate_json(answer.content))

    def verdict(self, run_id: str) -> RunVerdict:
        with _telling():
            return self._api.get(RunVerdict, f"/runs/{run_id}/verdict")

    def handled(self, handled: HandledCommit) -> None:
        with _telling():
            self._api.send("POST", f"/repositories/{handled.commit.repository}/commits", handled)

    def rings(self) -> Mapping[str, int]:
        with _telling():
            return self._api.get(dict[str, int], "/rings")

    def commits(self, repository: str) -> Sequence[CommitView]:
        with _telling():
            return self._api.get(CommitPage, f"/commits?repository={repository}&limit={_COMMITS}").commits

    def followed(self, repository: str) -> Sequence[FollowedView]:
        with _telling():
            return self._api.get(list[FollowedView], f"/repositories/{repository}/followed")

    def run_followed(self, asked: FollowedSpec) -> Check:
        with _telling():
            answer = self._api.send("POST", f"/repositories/{asked.following.repository}/followed-runs", asked)
        return Check.model_validate_json(answer.content)

    def note_followed(self, noted: FollowedCommit) -> None:
        with _telling():
            self._api.send("POST", f"/repositories/{noted.following.repository}/followed", noted)


class OwnControl:
    """Implements WatchControl in the process that holds the store."""

    def __init__(self, store: Store, supplies: Supplies | LocalSupplies, doorbell: Doorbell) -> None:
        self._store = store
        self._supplies = supplies
        self._doorbell = doorbell

    def heads(self, repository: str) -> Mapping[str, str]:
        with _telling():
            return self._store.heads(repository)

    def run(self, asked: CommittedSpec) -> Check:
        with _telling():
            return begin_committed(self._store, self._supplies, asked)

    def plan(self, asked: CommittedSpec) -> Check:
        with _telling():
            return _check(asked, dry_run_of(self._store, self._supplies, _dry(asked)))

    def verdict(self, run_id: str) -> RunVerdict:
        with _telling():
            return Verdicts(self._store).of(run_id)

    def handled(self, handled: HandledCommit) -> None:
        with _telling():
            self._store.add_commit(handled)

    def rings(self) -> Mapping[str, int]:
        return self._doorbell.rings()

    def commits(self, repository: str) -> Sequence[CommitView]:
        with _telling():
            return newest_commits(self._store, repository, _COMMITS).commits

    def followed(self, repository: str) -> Sequence[FollowedView]:
        with _telling():
            return followed_views(self._store, repository)

    def run_followed(self, asked: FollowedSpec) -> Check:
        with _telling():
            return begin_followed(self._store, self._supplies, asked)

    def note_followed(self, noted: FollowedCommit) -> None:
        with _telling():
            self._store.add_followed(noted)


def _dry(asked: CommittedSpec) -> DryRunRequest:
    return DryRunRequest(
        spec_text=asked.spec_text,
        spec_file=asked.path,
        catalogue_text=asked.catalogue_text,
        subjects=asked.subjects,
        commit=asked.commit,
    )


def _check(asked: CommittedSpec, found: DryRunView) -> Check:
    faults = tuple(found.faults)
    return Check(path=asked.path, reason=asked.reason, run_id=found.run_id, faults=faults, dry_run=found.dry_run)


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except (Refused, Unreachable) as error:
        raise ControlError(f"the API: {error}") from error
    except (StoreError, ProblemError, Refusal) as error:
        raise ControlError(str(error)) from error
