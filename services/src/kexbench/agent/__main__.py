"""`python -m kexbench.agent fetch|measure|build|send|line|submit`, in a pod, with its input in the environment.

Exit status: 0 done, 1 a bug or a lost connection, 2 unusable input, kit or material, 3 ended by a signal between
invocations, 4 no exclusive CPUs, 5 refused by the API, 6 the sources do not build, so a retry is useless.
"""

import logging
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from kexbench import traces
from kexbench.agent.build import build
from kexbench.agent.environment import BuildContainer, BuilderPod, JobPod, LinePod, PodSettings, SchedulePod
from kexbench.agent.fetch import fetch
from kexbench.agent.line import find_line
from kexbench.agent.measure import NotIsolated, RunnerFailed, measure
from kexbench.agent.send import send
from kexbench.agent.submit import submit
from kexbench.client import ApiClient, ApiError, Refused, token_in
from kexbench.kits import KitError
from kexbench.kits.transport import DamagedKit
from kexbench.logs import are_json, log_json

_log = logging.getLogger("kexbench.agent")
TERMINATION_LOG = Path("/dev/termination-log")
MOST_TERMINATION_BYTES = 4096
"""Kubernetes' path and limit; it makes the file, which everybody may write."""
DONE, LOST, UNUSABLE, CANCELLED, NOT_ISOLATED, REFUSED, UNBUILDABLE = range(7)


def main(arguments: list[str]) -> int:
    actions: dict[str, Callable[[], int]] = {
        "fetch": _fetch,
        "measure": _measure,
        "build": _build,
        "send": _send,
        "line": _line,
        "submit": _submit,
    }
    if len(arguments) != 1 or arguments[0] not in actions:
        print(f"expected one of {', '.join(actions)}, got {' '.join(arguments) or 'nothing'}", file=sys.stderr)
        return UNUSABLE
    if are_json():
        log_json(f"agent {arguments[0]}")
    traces.begin(f"kexbench agent {arguments[0]}", sends_at_end=True)
    try:
        try:
            return actions[arguments[0]]()
        finally:
            traces.end()
    except (NotIsolated, ApiError, KitError, DamagedKit, RunnerFailed) as error:
        _say_last("; ".join(line.strip() for line in str(error).splitlines()))
        return _status_of(error)


def _status_of(error: Exception) -> int:
    match error:
        case NotIsolated():
            return NOT_ISOLATED
        case Refused():
            return REFUSED
        case KitError():
            return UNBUILDABLE if error.is_of_the_sources else UNUSABLE
        case DamagedKit():
            return UNUSABLE
        case _:
            return LOST


def _fetch() -> int:
    pod = JobPod()
    with _api(pod) as api, traces.span("fetch inputs", pod.run_id, job_id=pod.job_id, node=pod.node_name):
        fetch(pod, api, _say)
    return DONE


def _measure() -> int:
    pod = JobPod()
    with _api(pod) as api:
        return DONE if measure(pod, api, _say) else CANCELLED


def _build() -> int:
    build(BuildContainer(), _say)
    return DONE


def _send() -> int:
    pod = BuilderPod()
    with _api(pod) as api:
        send(pod, api, _say)
    return DONE


def _line() -> int:
    pod = LinePod()
    with _api(pod) as api:
        find_line(pod, api, _say)
    return DONE


def _submit() -> int:
    pod = SchedulePod()
    with _api(pod) as api:
        submit(pod, api, _say)
    return DONE


def _api(pod: PodSettings) -> "closing[ApiClient]":
    return closing(ApiClient(pod.api_url, token_in(pod.token_file), _say))


def _say(text: str) -> None:
    if are_json():
        _log.info("%s", text)
    else:
        _print(text)


def _say_last(text: str) -> None:
    """Why this pod fails: one line, never JSON. It also goes where Kubernetes and Argo get a container's message from,
    and the dispatcher from them. Without it they would take the end of its log, which has other lines too."""
    _print(text)
    with suppress(OSError), TERMINATION_LOG.open("r+b") as message:  # only a container has it
        message.write(text.encode()[:MOST_TERMINATION_BYTES])


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
