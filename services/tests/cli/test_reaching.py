"""How long a command waits between two answers."""

from kexbench.cli.reaching import pause_here_s


def test_slow_answers_are_asked_for_less_often_and_no_outage_stops_the_asking() -> None:
    assert pause_here_s(0.001) == 0.5
    assert pause_here_s(0.1) == 2.0
    assert pause_here_s(300.0) == 5.0
