"""`kexbench run --queued RUN`: what `kexbench serve` starts for each run of its queue."""

from datetime import UTC, datetime
from functools import partial

from kexbench.cli.compose import measure
from kexbench.cli.console import err
from kexbench.client import ApiClient
from kexbench.domain.runs import RunEvent, RunReason, RunState
from kexbench.execution.measuring import end_with_standard_input
from kexbench.kits import KitError, KitErrors
from kexbench.kits.errors import why_run_fails
from kexbench.pipeline import RunGone, VersionMismatch, take_run
from kexbench.runner.results import DamagedFile
from kexbench.service import reach_service
from kexbench.wiring import Installation

DETAIL_CHARACTERS = 600


def measure_queued(installation: Installation, run_id: str) -> int:
    """The exit status. A run that cannot be begun has failed, in words. Nothing is said of one that is interrupted,
    since only who interrupted it knows why."""
    end_with_standard_input()
    tell = partial(_tell, installation, run_id)
    try:
        done = measure(
            installation,
            f"run {run_id}",
            partial(take_run, installation, run_id),
            queued=True,
            on_wait=partial(tell, RunState.BUILDING),
        )
    except (KitError, KitErrors) as error:
        errors = error.errors if isinstance(error, KitErrors) else (error,)
        tell(RunState.FAILED, "; ".join(map(str, errors)), *why_run_fails(errors))
        return 1
    except (RunGone, VersionMismatch, DamagedFile) as error:
        tell(RunState.FAILED, str(error))
        return 1
    return done.exit_status


def _tell(
    installation: Installation,
    run_id: str,
    state: RunState,
    words: str,
    reason: RunReason | None = None,
    about: tuple[str, ...] = (),
) -> None:
    err.print(words, markup=False)
    with reach_service(installation) as address:
        event = RunEvent(
            run_id=run_id,
            at=datetime.now(UTC),
            state=state,
            detail=words[:DETAIL_CHARACTERS],
            reason=reason,
            about=about,
        )
        ApiClient.of_run(address, run_id).add_event(event)
