"""Numbers as people read them."""

import re
from pathlib import Path

from kexbench.domain.numbers import move_words, signed_words

SERVICES = Path(__file__).parents[2]
MINUS = "\N{MINUS SIGN}"


def test_a_change_has_the_minus_sign_of_print() -> None:
    assert [signed_words(change) for change in (0.0314, -0.02, 0)] == ["+3.1%", f"{MINUS}2.0%", "+0.0%"]
    assert move_words(0.98, 0.9604, 1.001, places=2) == f"{MINUS}2.00% [{MINUS}3.96%, +0.10%]"


def test_no_other_code_writes_the_sign_of_a_change() -> None:
    written = re.compile(r":\+[\d.,{}a-z]*%")
    rooms = (SERVICES / "src", SERVICES / "bench")
    found = {path.name for room in rooms for path in room.rglob("*.py") if written.search(path.read_text())}
    assert found == {"numbers.py"}
