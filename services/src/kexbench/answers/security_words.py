"""What forward secrecy costs at a level of security, in sentences."""

from kexbench.analysis.forward_secrecy import Against, Handshake, LevelAnswer
from kexbench.answers.capacity_words import resolved_words
from kexbench.answers.security_shapes import SizesView
from kexbench.domain.numbers import listed, move_words, size_words
from kexbench.domain.security import AUTHORITIES, SecurityModel
from kexbench.domain.security_levels import RSA_SIZES, level_of
from kexbench.domain.strength import Strength

MOST_NAMED = 1
TWICE = 2.0
"""From twice as much on, a ratio is read more easily than a percentage."""
SPEC = "bench-specs/articles/equal-security.yaml"


def limit_words(whole: Strength, model: SecurityModel) -> str:
    names = listed(list(dict.fromkeys(part.name for part in whole.weakest)))
    return names if whole.bits is not None else f"{AUTHORITIES[model].title} says nothing about {names}"


def cheapest_words(answer: LevelAnswer, level_bits: int) -> str:
    cheapest = answer.cheapest
    if cheapest is None or cheapest.bits is None:
        return f"No handshake with {level_bits} bits and forward secrecy was measured."
    stronger = "" if level_of(cheapest.bits) == level_bits else f", which has {cheapest.bits} bits"
    sentence = f"The cheapest handshake with forward secrecy is {_named(cheapest)}{stronger}."
    if not answer.as_cheap:
        return sentence
    titles = [each.case.label for each in answer.as_cheap]
    more = len(titles) - MOST_NAMED
    shown = "; ".join(titles[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{sentence} Not proven to cost more: {shown}."


def adds_words(answer: LevelAnswer, sizes: SizesView, model: SecurityModel) -> str:
    cheapest, plain_rsa, other = answer.cheapest, answer.plain_rsa, answer.with_rsa_key
    if plain_rsa is None:
        nothing = "so there is nothing to compare with."
        if sizes.rsa_bits is None:
            largest = f"no RSA key of up to {RSA_SIZES[-1]} bits with {sizes.level_bits} bits of security"
            return f"{AUTHORITIES[model].title} has {largest}, {nothing}"
        return f"No RSA key exchange with {sizes.level_bits} bits was measured, {nothing}"
    named = f"RSA key exchange with RSA {plain_rsa.case.rsa_bits} ({_time(plain_rsa)})"
    if cheapest is None:
        return f"Only {named} was measured, which has no forward secrecy."
    against = answer.against_rsa.get(cheapest.case.case_id)
    if against is None:
        reason = ": too few invocations." if cheapest.run_id == plain_rsa.run_id else ", which another run measured."
        return f"It is not compared with {named}{reason}"
    sentences = [_compared(against, named)]
    if other and other is not cheapest and (of_other := answer.against_rsa.get(other.case.case_id)):
        sentences.append(f"With an RSA certificate, {_named(other)} {_short(of_other)}.")
    return " ".join(sentences)


def not_compared_words(handshake: Handshake, answer: LevelAnswer) -> str:
    """Why a handshake has no ratio to RSA key exchange."""
    if answer.plain_rsa is None:
        return "no RSA key exchange"
    return "too few invocations" if handshake.run_id == answer.plain_rsa.run_id else "another run"


def _compared(against: Against, named: str) -> str:
    ratio = against.ratio
    if against.verdict == "less":
        more = _more(1 / ratio.ratio, 1 / ratio.high, 1 / ratio.low)
        return f"Forward secrecy costs nothing here: {named} takes {more} CPU time."
    if against.verdict == "more":
        joined = "than" if ratio.ratio < TWICE else "of"
        return f"Forward secrecy takes {_more(ratio.ratio, ratio.low, ratio.high)} CPU time {joined} {named}."
    if against.verdict == "same":
        return f"No difference from {named}: {move_words(ratio.ratio, ratio.low, ratio.high)}."
    return f"The difference from {named} is unresolved: {resolved_words(ratio, against.resolves)}."


def _short(against: Against) -> str:
    ratio = against.ratio
    if against.verdict == "more":
        return f"takes {_more(ratio.ratio, ratio.low, ratio.high)} CPU time"
    if against.verdict == "less":
        return f"takes {size_words(ratio.ratio, ratio.low, ratio.high)} less CPU time"
    if against.verdict == "same":
        return f"makes no difference: {move_words(ratio.ratio, ratio.low, ratio.high)}"
    return f"differs by an unresolved {resolved_words(ratio, against.resolves)}"


def _named(handshake: Handshake) -> str:
    return f"{handshake.case.label} ({_time(handshake)})"


def _more(ratio: float, low: float, high: float) -> str:
    """`13.2% [12.9%, 13.5%] more`, `3.1 times [3.0, 3.2] the`."""
    if ratio < TWICE:
        return f"{size_words(ratio, low, high)} more"
    return f"{ratio:.3g} times [{low:.3g}, {high:.3g}] the"


def _time(handshake: Handshake) -> str:
    """`25.4 µs`, `1,270 µs`: as tables have it, so that both say the same number."""
    us = handshake.cost_ns / 1e3
    digits = 0 if us >= 100 else 1 if us >= 10 else 2
    return f"{us:,.{digits}f} µs"


def missing_words(answer: LevelAnswer, sizes: SizesView, model: SecurityModel) -> str | None:
    """How to measure a level. None if both answers have what they need."""
    title, level_bits = AUTHORITIES[model].title, sizes.level_bits
    has_groups = bool(sizes.ecdhe_groups or sizes.dh_groups or sizes.mlkem_groups)
    has_keys = bool(sizes.curves or sizes.keys or sizes.rsa_bits)
    if sizes.cipher is None or not (has_groups and has_keys):
        return f"{title} has no sizes with {level_bits} bits."
    lacks_rsa = answer.plain_rsa is None and sizes.rsa_bits is not None
    if answer.cheapest is not None and not lacks_rsa:
        return None
    settings = f"securityBits: [{level_bits}] and securityModel: {model}"
    return f"A matrix with {settings} measures this level. {SPEC} has all levels."
