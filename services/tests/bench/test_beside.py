"""docs/results/paths-beside-a-plain-program.md: when programs agree, and what the page says of it."""

from bench.beside import HEAD, PAGE, PATHS, Beside, Times, agree, section
from kexbench.domain.intervals import Estimate


def an_estimate(low: float | None, high: float | None) -> Estimate:
    return Estimate(value=100, low=low, high=high, invocations=1)


def test_programs_agree_where_their_intervals_overlap_within_their_own_time() -> None:
    ours = an_estimate(100, 101)
    assert agree(ours, an_estimate(101, 102), 0) is True
    assert agree(ours, an_estimate(102, 103), 0) is False
    assert agree(ours, an_estimate(102, 103), 0.02) is True
    assert agree(an_estimate(104, 105), ours, 0.02) is False
    assert agree(ours, an_estimate(None, None), 0.02) is None


def test_a_table_has_every_program_and_marks_what_disagrees() -> None:
    times = [Times(100e6 + number, 150e6 + number) for number in range(400)]
    slower = [Times(each.handshake * 1.1, each.first_byte) for each in times]
    text = section(Beside(PATHS[1], {"the worker": times, "plain loop": slower}))
    title, counts, table = text.split("\n\n")
    assert (title, counts) == ("## 50 ms, 0.1% loss", "Connections: the worker 400, plain loop 400.")
    header, _, median, *_, last = table.splitlines()
    assert header == "| percentile | the worker | plain loop | agree |"
    assert median == "| handshake, 50% | 100.0 [100.0, 100.0] | 110.0 [110.0, 110.0] | **no** |"
    assert last == "| first byte, 99% | 150.0 [150.0, 150.0] | 150.0 [150.0, 150.0] | yes |"


def test_the_page_has_every_path() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.startswith(HEAD)
    assert [f"## {path.words}\n" in page for path in PATHS] == [True] * len(PATHS)
