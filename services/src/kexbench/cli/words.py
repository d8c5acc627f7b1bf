"""Numbers as text."""

from collections.abc import Sequence

from kexbench.answers.filters import RunsAside
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate
from kexbench.domain.numbers import counted, margin_words

NS_PER_SECOND = 1e9
NAMED_CASES = 5


def rate_text(estimate: Estimate) -> str:
    """A CPU cost in nanoseconds as handshakes per CPU-second, ± half of its interval."""
    return f"{NS_PER_SECOND / estimate.value:,.0f}{margin_words(estimate.value, estimate.low, estimate.high)}"


def host_text(kind: HostKind) -> str:
    return f"{kind.cpu_model}, pool {kind.pool}"


def cases_text(titles: Sequence[str], of_all: int | None = None) -> str:
    """The titles of some cases; `all cases` if they are all of several."""
    if len(titles) == of_all and of_all > 1:
        return "all cases"
    different = list(dict.fromkeys(titles))
    more = len(different) - NAMED_CASES
    return "; ".join(different[:NAMED_CASES]) + (f"; and {more:,} more" if more > 0 else "")


def shared_line(why: str, cells: Sequence[tuple[str, str]], of_all: int | None = None, about: str = "") -> str:
    """One line for a reason that several cells share, each a version or step and the title of its case: of one version
    `openssl 3.5.1: why: case; case`, of several `12 cells: why: openssl 3.5.1, case; ...; and 7 more`. `of_all`: how
    many cells could have the reason; `about`: what of these cells."""
    names = list(dict.fromkeys(name for name, _ in cells))
    if len(names) > 1:
        text = cases_text([f"{name}, {title}" for name, title in cells], of_all)
        return f"{len(cells):,} cells{about}: {why}: {text}"
    count = f", {len(cells):,} cases" if are_cut(cells) else ""
    return f"{names[0]}{count}{about}: {why}: {cases_text([title for _, title in cells], of_all)}"


def are_cut(cells: Sequence[tuple[str, str]]) -> bool:
    """Whether a line names the first of the cells alone."""
    return len(set(cells)) > NAMED_CASES


NAMED_FIRST_LOOKS = 5


def aside_lines(aside: RunsAside) -> list[str]:
    """Which runs are not part of the history: shown because no other run has results, or left out."""
    newest = ", ".join(f"{look.run_id} ({look.spec_name})" for look in aside.newest[:NAMED_FIRST_LOOKS])
    if aside.shows_first_looks:
        return [f"From first looks (--quick), until another run has results: {newest}"]
    lines = []
    if aside.first_looks:
        lines.append(f"Not shown: {counted(aside.first_looks, 'first look')} (--quick), the last: {newest}")
    if aside.others:
        lines.append(f"Not shown: {counted(aside.others, 'run')} for other questions, such as bisections")
    return lines


def by_library(names: list[str]) -> str:
    """`openssl 3.0.19, 3.5.7; gnutls 3.8.9` from names with a library and a version."""
    versions: dict[str, list[str]] = {}
    for library, _, version in (name.partition(" ") for name in dict.fromkeys(names)):
        versions.setdefault(library, []).append(version)
    return "; ".join(f"{library} {', '.join(own)}" for library, own in versions.items())
