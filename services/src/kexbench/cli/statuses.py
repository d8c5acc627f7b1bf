"""What commands end with: the only list of exit statuses. The help of each command quotes its own, and the reference of
the documentation is made from all of them."""

EVERYWHERE = {
    0: "success",
    1: "failure; the last lines say what went wrong, and often the remedy",
    2: "wrong usage, such as an unknown option or a setting that is missing",
    130: "cancelled with Ctrl-C",
}
"""Unless a command says otherwise."""
OWN: dict[str, dict[int, str]] = {
    "run": {
        0: "every run finished",
        1: "a run ended otherwise, or its results are not stored yet",
        130: "a run was cancelled",
    },
    "compare": {
        0: "no case is slower",
        3: "a case is slower, or fails with the second build alone",
        4: "the second build cannot be made",
        5: "the first cannot",
        1: "a run failed, or compared nothing",
    },
    "comment": {
        0: "commented, or there is nothing to say",
        1: "the forge refused",
        2: "this is no job of a pull request, or there is no report or token",
    },
    "upgrade": {
        0: "reported",
        3: "with --fail-on-regression: a case is slower",
        1: "with --fail-on-regression: nothing could be compared",
    },
    "why": {0: "counted", 1: "nothing could be counted"},
    "capacity": {0: "reported", 1: "a part was not measured on any CPU"},
    "stacks": {0: "reported", 1: "no two libraries can be compared there"},
    "paths": {0: "reported", 1: "no path was measured there"},
    "life": {0: "reported", 1: "nothing of a library's life was measured there"},
    "analyze changepoints": {0: "every line is answered", 2: "a line is invalid, and the lines before it are answered"},
    "analyze compare": {0: "every line is answered", 2: "a line is invalid, and the lines before it are answered"},
    "bisect": {
        0: "found: one commit, or several of which only the last builds",
        4: "inconclusive",
        1: "not measured",
    },
    "bisections show": {
        0: "shown",
        4: "with --wait: inconclusive",
        1: "with --wait: ended otherwise, or waits to be resumed",
    },
    "backfill": {0: "everything is queued or measured", 1: "runs failed, other than by a broken commit"},
    "interop": {
        0: "all combinations that both sides support work",
        3: "some do not",
        1: "nothing could be tested",
    },
    "qualify": {0: "all runs finished", 1: "a run ended otherwise"},
    "kits add": {0: "every kit is there", 1: "a build failed"},
    "kits diff": {0: "same features and defaults", 3: "they differ", 1: "a kit was never probed"},
    "kits verify": {0: "no kit changed", 1: "a kit is damaged or behaves differently"},
    "catalogue check": {0: "nothing new", 3: "newer versions", 1: "a source could not be queried"},
    "submit": {0: "queued, or with --wait finished", 1: "refused, or ended otherwise"},
    "runs add": {0: "every run is here and stored", 1: "a run was refused, or is not stored yet"},
    "runs cancel": {
        0: "every run is cancelled, is being cancelled or had ended",
        1: "one is unknown or cannot be cancelled here, or with --wait one ended otherwise",
    },
    "dispatch": {0: "ended by a signal, or with --once all parts succeeded", 1: "with --once: a part failed"},
    "notify test": {
        0: "every channel accepted it",
        1: "a channel failed, or there is none",
        2: "there is no such channel",
    },
    "doctor": {0: "examined", 1: "with --strict: there is a warning"},
}
"""By command. A status of `EVERYWHERE` that is not repeated means there what it means everywhere."""


def status_sentence(command: str) -> str:
    """What the help of a command says, or nothing where it has no statuses of its own."""
    own = OWN.get(command, {})
    return f"Exit status: {'; '.join(f'{status} {meaning}' for status, meaning in own.items())}." if own else ""
