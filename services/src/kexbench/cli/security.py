"""`kexbench security`: the sizes that a model of security holds for equally strong."""

from typing import Annotated

import typer
from rich.table import Table

from kexbench.answers.security import model_views, sizes_view
from kexbench.answers.security_shapes import SizesView
from kexbench.cli.console import out, print_json
from kexbench.cli.options import AsJson
from kexbench.domain.security import AUTHORITIES, Hash, SecurityModel
from kexbench.domain.security_levels import SECURITY_LEVELS

NONE = "-"


def security(
    model: Annotated[
        SecurityModel, typer.Option("--model", help="The authority: nist, ecrypt, cnsa or cnsa-2.")
    ] = SecurityModel.NIST,
    as_json: AsJson = False,
) -> None:
    """Print the weakest sizes that reach each level of security, and the authority's sources.

    A spec with `securityBits` measures these sizes.

    Examples:

        kexbench security
        kexbench security --model ecrypt
        kexbench security --model cnsa --json | jq '.levels[] | select(.level_bits == 128).rsa_bits'
    """
    view = next(each for each in model_views() if each.model is model)
    levels = [sizes_view(model, level_bits) for level_bits in SECURITY_LEVELS]
    if as_json:
        print_json(view.model_dump(mode="json") | {"levels": [level.model_dump(mode="json") for level in levels]})
        return
    out.print(f"[bold]{view.title}[/bold]")
    for source in view.sources:
        out.print(f"  {source}", markup=False, highlight=False)
    out.print(_table(levels))
    for note in _notes(model):
        out.print(note, markup=False, highlight=False)


def _notes(model: SecurityModel) -> list[str]:
    notes = ["Of two sizes of one kind the larger one is for TLS 1.3."]
    if bits := AUTHORITIES[model].hashes.get(Hash.SHA_256):
        notes.append(f"RSA signatures use SHA-256, so certificates with RSA keys end at {bits} bits.")
    return notes


def _table(levels: list[SizesView]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("bits", justify="right")
    table.add_column("RSA", justify="right")
    for column in ("DH", "ECDHE", "ML-KEM", "certificates", "cipher"):
        table.add_column(column)
    for level in levels:
        ecdsa = [f"ECDSA {curve}" for curve in level.curves]
        table.add_row(
            str(level.level_bits),
            str(level.rsa_bits or NONE),
            *(_lines(names) for names in (level.dh_groups, level.ecdhe_groups, level.mlkem_groups)),
            _lines([*ecdsa, *level.keys]),
            level.cipher or NONE,
        )
    return table


def _lines(names: list[str]) -> str:
    return "\n".join(names) or NONE
