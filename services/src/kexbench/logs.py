"""Logs: text for people, or with KEXBENCH_LOG=json one JSON object a line, for collectors of logs."""

import logging
import os
import sys
from typing import Any

from kexbench.traces import trace_id

VARIABLE = "KEXBENCH_LOG"


def are_json() -> bool:
    return os.environ.get(VARIABLE) == "json"


def log_json(program: str) -> None:
    """Every record of this process becomes a JSON object on standard error. `program` is its name, such as `serve`."""
    from pythonjsonlogger.json import JsonFormatter  # noqa: PLC0415 (only where it is wanted)

    class Formatter(JsonFormatter):
        def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
            """A line about a run has the id of its trace, also where no traces are sent."""
            if run_id := log_data.get("run_id"):
                log_data["trace_id"] = trace_id(run_id)
            return super().process_log_record(log_data)

    handler = logging.StreamHandler(sys.stderr)
    fields = {"levelname": "level", "name": "logger"}
    form = "{levelname}{name}{message}"
    handler.setFormatter(
        Formatter(form, style="{", rename_fields=fields, static_fields={"program": program}, timestamp="time")
    )
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    silence_requests()


def log_text(formatter: logging.Formatter) -> None:
    """As lines on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    silence_requests()


def silence_requests() -> None:
    """Clients of HTTP log every request, several a second, or every try, with paths that may have secrets in them."""
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)


class Lines:
    """A text stream, each of whose lines is logged."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._rest = ""

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            if line.strip():
                self._log.info("%s", line.rstrip())
        return len(text)

    def flush(self) -> None:
        """A line is logged when it ends."""

    def isatty(self) -> bool:
        return False
