"""Options and arguments that several commands have."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError
from typer.core import TyperGroup

from kexbench.planning.written import Duration
from kexbench.shipped import shipped_mixes, shipped_specs


class ListedAlone(TyperGroup):
    """A group of commands that lists if no verb is given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] != "--help"):
            args = ["list", *args]
        return super().parse_args(ctx, args)


def completed_spec(typed: str) -> list[str]:
    """Names for a shell to complete with; where there is none, it completes with files."""
    return [name for name in shipped_specs() if name.startswith(typed)]


def completed_mix(typed: str) -> list[str]:
    return [name for name in shipped_mixes() if name.startswith(typed)]


_DURATION: TypeAdapter[int] = TypeAdapter(Duration)


def duration(text: str) -> timedelta:
    """A duration of an option. Raises BadParameter."""
    try:
        return timedelta(seconds=_DURATION.validate_python(text))
    except ValidationError as error:
        raise typer.BadParameter(error.errors()[0]["msg"]) from None


SPEC = "A file, or the name of a spec that comes with kexbench, such as quickstart."
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def spec_argument(also: str = "") -> Any:
    """The spec of a command, and what it needs to have there."""
    return typer.Argument(
        metavar="SPEC", help=f"{SPEC} {also}".strip(), autocompletion=completed_spec, show_default=False
    )


SpecFile = Annotated[Path, spec_argument()]
SpecMatrix = Annotated[
    Path | None,
    typer.Option(
        "--spec",
        metavar="SPEC",
        help="Use the cases of this spec, a file or a name.",
        autocompletion=completed_spec,
        show_default=False,
    ),
]
RELEVANT_TEXT = "0.5%"
Relevant = Annotated[str, typer.Option(metavar="PERCENT", help="Ignore smaller changes, even significant ones.")]


def share(text: str) -> float:
    """`1%` as 0.01."""
    try:
        ratio = float(text.removesuffix("%")) / 100
    except ValueError:
        ratio = -1
    if not text.endswith("%") or not 0 <= ratio <= 0.5:
        raise typer.BadParameter(f"{text!r} is not a percentage from 0% to 50%, such as 1%")
    return ratio
