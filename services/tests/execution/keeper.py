"""A process that keeps a run in a folder, as a measuring one does; it prints what is written once it is.

`python -m tests.execution.keeper FOLDER`
"""

import sys
from pathlib import Path

from kexbench.execution.folder import RunFolder
from kexbench.runner.results import append_result
from tests.builders import a_run, an_event, an_invocation


def main(path: str) -> None:
    run, folder = a_run(), RunFolder(Path(path))
    folder.create(run)
    print("run.json", flush=True)
    folder.add_event(an_event(run))
    print("events.ndjson", flush=True)
    for number in range(2):
        append_result(folder.results(run.plan.jobs[0]), an_invocation(run, number, cpu_ns={"fake@1.0": 5}))
        print("results", flush=True)
    folder.mark_delivered()
    print("delivered", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
