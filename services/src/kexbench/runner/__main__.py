"""`python -m kexbench.runner JOB-INPUT LOG`: measure one job and print a line of progress for each invocation.

Exit status: 0 finished, 3 cancelled by SIGINT or SIGTERM, 2 unusable job input, 4 workers were ended from outside,
5 out of time. An interrupted invocation is discarded.
"""

import json
import signal
import sys
from pathlib import Path

from pydantic import ValidationError

from kexbench.runner.cpus import claim_cpus
from kexbench.runner.host import LoadMeter
from kexbench.runner.invocation import CutShort
from kexbench.runner.job import OutOfTime, measure_job
from kexbench.runner.job_input import JobInput

CANCELLED = 3
CUT_SHORT = 4
OUT_OF_TIME = 5


def main(arguments: list[str]) -> int:
    try:
        job_input = JobInput.model_validate_json(Path(arguments[0]).read_bytes())
        log = Path(arguments[1])
    except (IndexError, OSError, ValidationError) as error:
        print(f"unusable job input: {error}", file=sys.stderr)
        return 2
    stop = _StopFlag()
    try:
        cpus = claim_cpus()
        for progress in measure_job(
            job_input, cpus, log, LoadMeter(cpus.siblings, measuring=cpus.measuring).read, stop.is_set
        ):
            print(json.dumps({"case_id": progress.case_id, "done": progress.done}), flush=True)
    except CutShort as error:
        print(f"workers were ended from outside: {error}; see the system log, then resume the run", file=sys.stderr)
        return CUT_SHORT
    except OutOfTime:
        print("measuring stopped at its time limit (maxDuration)", file=sys.stderr)
        return OUT_OF_TIME
    return CANCELLED if stop.is_set() else 0


class _StopFlag:
    """Set by SIGINT and SIGTERM. The current invocation is finished first."""

    def __init__(self) -> None:
        self._set = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._raise)

    def _raise(self, *_: object) -> None:
        self._set = True

    def is_set(self) -> bool:
        return self._set


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
