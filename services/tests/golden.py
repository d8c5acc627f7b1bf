"""What people read, in files that are compared whole. Change a wording in the source, run the tests, `make golden`."""

from collections.abc import Mapping
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def assert_golden(path: Path, actual: str) -> None:
    """Fails with a twin of a checked-in file beside it when what people read has changed."""
    twin = path.with_name(f"{path.name}.actual")
    if path.is_file() and path.read_text(encoding="utf-8") == actual:
        twin.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    twin.write_text(actual, encoding="utf-8")
    raise AssertionError(f"{path.name} would change; if that is meant, `make golden` moves {twin.name} over it")


def assert_texts(path: Path, texts: Mapping[str, str]) -> None:
    """The same of several texts, each below the situation that it is for."""
    assert_golden(path, "".join(f"## {situation}\n\n{text.rstrip()}\n\n" for situation, text in texts.items()))
