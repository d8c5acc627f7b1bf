"""Shell commands that repeat by hand what one subject's worker did in one invocation."""

import shlex
from collections.abc import Iterator

from kexbench.domain.kits import Launch
from kexbench.domain.plans import MIN_HANDSHAKES, WARM_UP_BATCHES
from kexbench.runner.cpus import Cpus
from kexbench.runner.job_input import JobInput
from kexbench.runner.order import Turn
from kexbench.runner.participant import MAX_HANDSHAKES, run_request, setup_request
from kexbench.runner.path import path_request
from kexbench.runner.start import start_request


def transcript(job_input: JobInput, turn: Turn, reference: str, cpus: Cpus) -> str:
    """A command line with all requests to the worker, which plays both roles. Only the runner can repeat a case with
    a peer, because the timing of its two workers depends on each other, and one with a web server, which it starts."""
    case = next(case for case in job_input.cases if case.case_id == turn.case_id)
    if case.has_server:
        return f"# no command: only kexbench starts {case.server} and the client that keeps it busy"
    kit = job_input.kits[reference]
    launch = kit.manifest.launch(kit.folder, job_input.material_folder, *cpus.pin(case.threads))
    requests = [setup_request(case, job_input.material[case.case_id])]
    requests += [run_request(case, MIN_HANDSHAKES, job_input.measure.batch_ns_of(case), MAX_HANDSHAKES)] * (
        WARM_UP_BATCHES + job_input.measure.batches
    )
    if path := case.network_path:
        seed = turn.seed(job_input.seed)
        requests.append(path_request(case, path, job_input.measure.connections, seed, None).line(case.case_id))
    if job_input.measure.starts_processes(case):
        requests.append(start_request(case, job_input.measure.starts))
    return "\n".join(_lines(launch, case.environment, [*requests, "stop"]))


def _lines(launch: Launch, case_environment: dict[str, str], requests: list[str]) -> Iterator[str]:
    environment = {**launch.environment, **case_environment}
    command = ["env", "-i", *(f"{name}={value}" for name, value in environment.items()), *launch.arguments]
    yield f"cd {shlex.quote(launch.folder)}"
    yield f"{shlex.join(command)} <<'END'"
    yield from requests
    yield "END"
