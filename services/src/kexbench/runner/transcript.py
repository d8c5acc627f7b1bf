"""What one subject's worker was told in one invocation, as text that a shell takes: for reproducing it by hand."""

import shlex
from collections.abc import Iterator

from kexbench.domain.kits import Launch
from kexbench.runner.cpus import Cpus
from kexbench.runner.invocation import WARM_UP_BATCHES
from kexbench.runner.order import Turn
from kexbench.runner.party import MAX_HANDSHAKES, MIN_HANDSHAKES, run_request, setup_request
from kexbench.runner.ticket import Ticket


def transcript(ticket: Ticket, turn: Turn, reference: str, cpus: Cpus) -> str:
    """A command line with everything that its worker reads. Both roles in one process; two workers can't be told
    apart from one another's timing, so of a case with a peer only the runner itself can repeat one."""
    case = next(case for case in ticket.cases if case.case_id == turn.case_id)
    kit = ticket.kits[reference]
    launch = kit.manifest.launch(kit.folder, ticket.material_folder, *cpus.pin(case.threads))
    requests = [setup_request(case, ticket.material[case.case_id])]
    requests += [run_request(case, MIN_HANDSHAKES, ticket.measure.batch_ns, MAX_HANDSHAKES)] * (
        WARM_UP_BATCHES + ticket.measure.batches
    )
    return "\n".join(_lines(launch, case.environment, [*requests, "stop"]))


def _lines(launch: Launch, more: dict[str, str], requests: list[str]) -> Iterator[str]:
    environment = {**launch.environment, **more}
    words = ["env", "-i", *(f"{name}={value}" for name, value in environment.items()), *launch.arguments]
    yield f"cd {shlex.quote(launch.folder)}"
    yield f"{shlex.join(words)} <<'END'"
    yield from requests
    yield "END"
