"""Numbers as text."""

from collections.abc import Sequence

from kexbench.comparison.models import Estimate

NS_PER_SECOND = 1e9
NAMED_CASES = 5


def rate_text(estimate: Estimate) -> str:
    """A CPU cost in nanoseconds as handshakes per CPU-second, ± half of its interval."""
    text = f"{NS_PER_SECOND / estimate.value:,.0f}"
    if estimate.low and estimate.high:
        text += f" ±{(estimate.high - estimate.low) / 2 / estimate.value:.1%}"
    return text


def percent(ratio: float) -> str:
    """A ratio as a signed change: 1.021 is `+2.1%`."""
    return f"{ratio - 1:+.1%}"


def duration_words(seconds: float) -> str:
    """`45 s` or `12 min`."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def cases_text(titles: Sequence[str], of_all: int | None = None) -> str:
    """The titles of some cases; `all cases` if they are all of several."""
    if len(titles) == of_all and of_all > 1:
        return "all cases"
    different = list(dict.fromkeys(titles))
    more = len(different) - NAMED_CASES
    return "; ".join(different[:NAMED_CASES]) + (f"; and {more:,} more" if more > 0 else "")


def by_library(names: list[str]) -> str:
    """`openssl 3.0.19, 3.5.7; gnutls 3.8.9` from names with a library and a version."""
    versions: dict[str, list[str]] = {}
    for library, _, version in (name.partition(" ") for name in dict.fromkeys(names)):
        versions.setdefault(library, []).append(version)
    return "; ".join(f"{library} {', '.join(own)}" for library, own in versions.items())
