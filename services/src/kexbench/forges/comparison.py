"""The report of a change to a library, in Markdown: what a job of continuous integration found. Pure."""

from collections.abc import Iterator

from kexbench.domain.differences import Difference
from kexbench.domain.instruments import INSTRUMENTS, Instrument
from kexbench.domain.numbers import counted, signed_words
from kexbench.domain.pairs import ChangeReport, Pair, PairEnd, Unbuilt
from kexbench.domain.upgrades import VERDICT_WORDS, UpgradeCell
from kexbench.domain.verdicts import RunVerdict
from kexbench.forges.markdown import LONGEST, code, one_line, table
from kexbench.forges.words import culprit_table, exact_list

CELLS_MAX = 60
_MEASURES = {
    instrument: row.measure if instrument is Instrument.TIME else row.measure.lower()
    for instrument, row in INSTRUMENTS.items()
}


def is_news(report: ChangeReport) -> bool:
    """Whether a pull request needs the comment even if it has no earlier one to correct."""
    verdicts = [pair.verdict for pair in report.pairs]
    return bool(report.unbuilt) or any(
        verdict.moved or verdict.lost or verdict.trouble or not verdict.compared for verdict in verdicts
    )


def change_comment(report: ChangeReport) -> str:
    """The comment on a pull request, and the summary of the job."""
    return "\n\n".join([f"### kexbench: {_headline(report)}", *_parts(report)])


def _headline(report: ChangeReport) -> str:
    if report.unbuilt:
        names = {"base": "the base", "change": "this change"}
        return " and ".join(names[each.which] for each in report.unbuilt) + " cannot be built"
    sentences = {_MEASURES[pair.instrument]: _sentence(pair.verdict) for pair in report.pairs}
    if len(sentences) == 1:
        return next(iter(sentences.values()))
    return "; ".join(f"{measure}: {sentence}" for measure, sentence in sentences.items())


def _sentence(verdict: RunVerdict) -> str:
    lost = f"{counted(verdict.lost, 'case')} failed with this change alone" if verdict.lost else ""
    if lost and not verdict.compared:
        return lost
    return "; ".join(filter(None, [lost, verdict.sentence]))


def _parts(report: ChangeReport) -> Iterator[str]:
    for unbuilt in report.unbuilt:
        yield from _unbuilt_parts(unbuilt)
    for pair in report.pairs:
        yield from _pair_parts(pair)


def _unbuilt_parts(unbuilt: Unbuilt) -> Iterator[str]:
    yield f"{code(unbuilt.reference)}: {code(unbuilt.reason)}"
    if unbuilt.remedy:
        yield f"Remedy: {code(unbuilt.remedy)}"
    if unbuilt.log:
        # Indented text is code wherever it stands, whatever it contains.
        lines = "\n".join(f"    {_printable(line)}" for line in unbuilt.log)
        yield f"The end of its log:\n\n{lines}"


def _pair_parts(pair: Pair) -> Iterator[str]:
    kinds = dict.fromkeys(f"{cell.host_kind.cpu_model}, pool {cell.host_kind.pool}" for cell in pair.cells if cell.move)
    where = f" on {' and '.join(map(code, kinds))}" if kinds else ""
    measure = _MEASURES[pair.instrument]
    yield f"{measure[0].upper()}{measure[1:]} of a handshake: {_end(pair.before)} → {_end(pair.after)}{where}."
    if pair.components:
        yield f"The builds also differ in {', '.join(map(_difference, pair.components))}."
    if pair.before.build_profile_label != pair.after.build_profile_label:
        labels = code(pair.before.build_profile_label), code(pair.after.build_profile_label)
        yield f"Built differently, which may cause a part of the change: {labels[0]} → {labels[1]}."
    if pair.verdict.trouble:
        yield f"Incomplete: {code(pair.verdict.trouble)}"
    if pair.verdict.missing:
        rows = [(reason, f"{count:,}") for reason, count in pair.verdict.missing.items()]
        yield table(("comparisons without a result", "number:"), rows)
    if pair.verdict.lost:
        yield f"In {counted(pair.verdict.lost, 'case')}, only the second build failed."
    if cells := [cell for cell in pair.cells if cell.move or cell.invocations]:
        head = ("case", "verdict", "both sides:", "95% interval", "client:", "server:")
        yield table(head, map(_cell_row, cells[:CELLS_MAX]))
        if len(cells) > CELLS_MAX:
            yield f"and {len(cells) - CELLS_MAX:,} more"
    yield from exact_list(pair.verdict.exact)
    if pair.verdict.culprits:
        yield culprit_table(pair.verdict.culprits)
    yield f"Changes below {pair.relevant:.2%} do not count. Run {code(pair.run_id)}."


def _end(end: PairEnd) -> str:
    return f"{code(end.reference)} ({code(end.version)})"


def _difference(difference: Difference) -> str:
    return code(difference.words)


def _cell_row(cell: UpgradeCell) -> tuple[str, ...]:
    sides = (_change(side.ratio) if side else "–" for side in (cell.client, cell.server))
    verdict = VERDICT_WORDS[cell.verdict]
    if cell.verdict == "more":
        verdict = f"**{verdict}**"
    if cell.verdict == "unresolved" and cell.resolves is not None:
        verdict += f": resolution {cell.resolves:.2%}"
    if cell.move is None:
        return code(cell.title), verdict, "–", "–", *sides
    interval = f"{_change(cell.move.low)} to {_change(cell.move.high)}"
    return code(cell.title), verdict, _change(cell.move.ratio), interval, *sides


def _change(ratio: float) -> str:
    return signed_words(ratio - 1, 2)


def _printable(line: str) -> str:
    indent = len(line) - len(line.lstrip(" "))
    return (" " * indent + one_line(line))[:LONGEST]
