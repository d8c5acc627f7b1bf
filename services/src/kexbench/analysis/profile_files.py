"""Profiles as files that other programs read: KCachegrind and callgrind_annotate, and speedscope."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator

from kexbench.analysis.stacks import merged_calls
from kexbench.domain.instruments import INSTRUMENTS, root_of, side_words
from kexbench.domain.profiles import CallCost, CallNode, Profile, ProfileFormat

MEDIA_TYPES: dict[ProfileFormat, str] = {"callgrind": "text/plain", "speedscope": "application/json"}
_ENDINGS: dict[ProfileFormat, str] = {"callgrind": "callgrind", "speedscope": "speedscope.json"}
_Function = tuple[str, str]


def file_name(build: str, side: str, file_format: ProfileFormat) -> str:
    """Such as `openssl-3.0.19-server.callgrind`."""
    return re.sub(r"[^A-Za-z0-9.+=_-]+", "-", f"{build}-{side}.{_ENDINGS[file_format]}")


def profile_file(profile: Profile, build: str, file_format: ProfileFormat) -> str:
    """`build`: the library and version that were counted, for people."""
    row = INSTRUMENTS[profile.instrument]
    title = f"{build}, {side_words(profile.side)}, {row.amounts} {row.parts[profile.side].per}"
    return _callgrind(profile, title) if file_format == "callgrind" else _speedscope(profile, title)


def _callgrind(profile: Profile, title: str) -> str:
    """All counts, as whole numbers (Valgrind manual, "Callgrind Format Specification")."""
    calls = _calls_below_root(profile)
    own = {(cost.name, cost.library): _whole(cost.amount) for cost in profile.functions}
    total = sum(own.values())
    numbers = _Numbers()
    lines = [
        "# callgrind format",
        "version: 1",
        "creator: kexbench",
        f"cmd: {title}",
        f"desc: Averages of {profile.handshakes} handshakes, rounded. Calls are by both sides.",
        "positions: line",
        f"events: {INSTRUMENTS[profile.instrument].event}",
        f"summary: {total}",
    ]
    for function in dict.fromkeys([*own, *calls]):
        name, library = function
        lines += [
            "",
            f"ob={numbers.of('ob', library)}",
            f"fl={numbers.of('fl', '???')}",
            f"fn={numbers.of('fn', name)}",
        ]
        lines.append(f"0 {own.get(function, 0)}")
        for call in calls.get(function, ()):
            name, library = call.callee
            lines += [f"cob={numbers.of('ob', library)}", f"cfi={numbers.of('fl', '???')}"]
            lines += [f"cfn={numbers.of('fn', name)}", f"calls={max(1, _whole(call.calls))} 0"]
            lines.append(f"0 {_whole(call.inclusive)}")
    return "\n".join([*lines, "", f"totals: {total}", ""])


def _calls_below_root(profile: Profile) -> dict[_Function, list[CallCost]]:
    """By caller. Callgrind also gives the callers of the root its cost, up to the start of the program."""
    root = root_of(profile.instrument, profile.side)
    calls: dict[_Function, list[CallCost]] = defaultdict(list)
    for call in profile.calls:
        if call.callee[0] != root:
            calls[call.caller].append(call)
    below: dict[_Function, list[CallCost]] = {}
    waiting = [function for function in calls if function[0] == root]
    while waiting:
        caller = waiting.pop()
        if caller not in below:
            below[caller] = calls[caller]
            waiting += [call.callee for call in below[caller]]
    return below


class _Numbers:
    """Names are written once, with a number that stands for them afterwards."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[str, int]] = defaultdict(dict)

    def of(self, kind: str, name: str) -> str:
        numbers = self._numbers[kind]
        if name in numbers:
            return f"({numbers[name]})"
        numbers[name] = len(numbers) + 1
        return f"({numbers[name]}) {name}"


def _whole(number: float) -> int:
    return max(0, round(number))


def _speedscope(profile: Profile, title: str) -> str:
    """Stacks as in the flame graph, each with the own cost of its last function
    (https://www.speedscope.app/file-format-schema.json)."""
    frames: dict[_Function, int] = {}
    stacks = [
        ([frames.setdefault(function, len(frames)) for function in path], own)
        for path, own in _stacks(merged_calls(profile, profile), ())
        if own
    ]
    return json.dumps(
        {
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "exporter": "kexbench",
            "name": title,
            "shared": {"frames": [{"name": name, "file": library} for name, library in frames]},
            "profiles": [
                {
                    "type": "sampled",
                    "name": title,
                    "unit": INSTRUMENTS[profile.instrument].unit,
                    "startValue": 0,
                    "endValue": sum(own for _, own in stacks),
                    "samples": [stack for stack, _ in stacks],
                    "weights": [own for _, own in stacks],
                }
            ],
        }
    )


def _stacks(node: CallNode, callers: tuple[_Function, ...]) -> Iterator[tuple[tuple[_Function, ...], int]]:
    """Each stack with its own cost."""
    path = (*callers, (node.name, node.library))
    yield path, _whole(node.after - sum(child.after for child in node.children))
    for child in node.children:
        yield from _stacks(child, path)
