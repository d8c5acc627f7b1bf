"""`kexbench schema`: writes the schemas that are checked in."""

from pathlib import Path
from typing import Annotated

import typer

from kexbench.schemas import generated_files


def schema(folder: Annotated[Path, typer.Argument(help="The folder to write to.")]) -> None:
    """Write all generated schemas to a folder.

    Example:

        kexbench schema bench-specs/schema
    """
    for name, text in generated_files().items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
