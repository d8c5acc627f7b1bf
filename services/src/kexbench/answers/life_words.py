"""What stands out in a library's life, in a sentence."""

from collections.abc import Sequence

from kexbench.answers.change import Change
from kexbench.domain.metrics import Metric
from kexbench.domain.numbers import move_words


def life_sentence(changes: Sequence[tuple[Metric, Change]]) -> str:
    """`The largest change is in start trust CPU time: +512% [+498, +527] from OpenSSL 1.1.1w to OpenSSL 3.0.19.` Empty
    without a change."""
    if not changes:
        return ""
    metric, change = changes[0]
    move = move_words(change.ratio, change.low, change.high)
    return f"The largest change is in {metric.words}: {move} from {change.before.label} to {change.after.label}."
