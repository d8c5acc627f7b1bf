"""Key figures of this machine, so that two reports can be distinguished."""

import statistics
from dataclasses import dataclass

from bench.machine import Machine, turns_ns
from kexbench.domain.cases import Case
from kexbench.domain.plans import BATCH_NS, BATCHES
from kexbench.domain.samples import Timer
from kexbench.runner.participant import Participant


@dataclass(frozen=True)
class Calibration:
    timer: Timer
    handshake_ns: float
    case: Case

    def line(self) -> str:
        timer = self.timer
        return (
            f"A tick reading ({timer.tick_source}) costs {timer.tick_cost_ns:.0f} ns, a reading of the thread's CPU "
            f"clock {timer.thread_cpu_clock_cost_ns:.0f} ns, a handshake of OpenSSL's ({self.case.label}) "
            f"{self.handshake_ns / 1000:,.0f} µs of CPU time."
        )


def calibrate(machine: Machine, case: Case) -> Calibration:
    subject = "openssl@system"
    with Participant(machine.setting(case, {subject: machine.kit(subject)}, BATCHES), subject) as participant:
        costs = [turns_ns(participant.batch(BATCH_NS)) for _ in range(BATCHES)]
        return Calibration(timer=participant.timer, handshake_ns=statistics.median(costs), case=case)
