"""The texts of the scorecard next to its figures. Plain text: the page shows it too."""

HEAD = """\
# How good detection is

`make scorecard` wrote this page on {date} with kexbench {version}. One run measured all parts, except where a part \
says otherwise. Other machines give other figures. [Statistics](../understand/statistics.md) explains how changes are \
decided. Intervals are 95%.

{machine}"""
HISTORIES = """\
How well changes are found in histories whose changes are known: {sizes}. \
services/bench/data/changepoints names their sources. A change counts as found within five points of its place. A \
change that nobody could find counts neither as missed nor as a false alarm. F1, precision and recall cover the series \
with a change. The constants of kexbench's detector were chosen on three fifths of the histories, and the others were \
held back. Its last two rules (changes in parts, and the place of a step) are the exception: two real histories were \
inspected for them, whichever part they belong to. The other methods were rewritten from the papers and documentation \
of their authors, with the recommended settings. Two of them use the library ruptures.

A series has one point a day, so 1,000 series-weeks are 7,000 points. The delay is the number of points of a new level \
until the change is first found, for changes of at least 2.5 standard deviations of the noise in the synthetic series \
({delays} at most). Intervals come from a bootstrap over series (seed {seed}), those of delays from order statistics, \
and those without any false alarm from the Poisson distribution. CPU time is the median of {cpu_series} series of 500 \
points, each the minimum of {cpu_times} repetitions over some minutes. The smallest and the largest series are in \
brackets."""
STEPS_ABOUT = """\
How soon a slowdown of a library is found in its history. A kit was measured together with itself and with kits that \
burn a known extra share of every timed turn: {invocations} invocations of each of {cases} cases, {batches} batches \
each. All {subjects} subjects were interleaved in fresh processes, as in every run: {labels}.

Nightly series are drawn from these invocations: {each} for each case and step, {nights} nights each. A night is the \
median of ten consecutive invocations, as in a run, from a random time (seed {seed}). Each invocation is relative to \
the kit itself in the same rounds, as histories are relative to the sentinel. From a random night on, at least {edge} \
nights from both ends, the invocations are those of the slower kit. The series share invocations, so they contain less \
information than independent ones. The bootstrap intervals over series do not account for that. All methods get the \
values alone, without the errors of each night that kexbench knows. Delays cover {delays} series of each step."""
UPGRADES = """\
What happens to an upgrade of a library. The invocations are those of the previous part. For each of {cases} OpenSSL \
cases, ten random invocations screen the upgrade. If a cell looks like a regression, thirty other invocations of that \
cell decide. The code is the one that decides about every upgrade (seed {seed}). First, the kit is upgraded to itself \
{count} times: every suspicion is false, and no alert should remain. Then it is upgraded to a kit in which all cases \
with one property burn more, {slowed} times each. The upgrades share the invocations of the pool, so Wilson's \
interval, which assumes independence, is too narrow.

The last table shows the tests that other projects use, on ten invocations of each of the two names: all cases, \
{partitions} random partitions of each pool into disjoint groups. Intervals are Wilson's, for the equivalent number of \
independent tests."""
VERDICTS = """\
How often a commit's status is red. {commits:,} runs of a commit are simulated for each noise: {cells} cells of \
{invocations} invocations in {jobs} jobs. Each invocation is a paired log ratio of normal noise with the given \
standard deviation (seed {seed}). The code of real runs decides about the cells and the status. The screening for \
alerts is the same code, before it requests a confirmation run. The last column is a rule that calls a cell slower by \
its own 95% interval alone, without regard to the other cells. In the second table, the last two columns cover the \
slower cell alone."""
COMPARISON = """\
How well two versions are compared where the truth is known (services/bench/comparison.py, seeded). False alarms are \
counted on stored measurements of one thing (services/bench/data), with the filter for scripts at its two levels, and \
over complete matrices with a controlled false discovery rate. The coverage is that of a cell's 95% interval on \
simulated noise, alone and in matrices that share information about variances. For the power, two of forty cells are \
made slower in stored measurements. The nominal value is shown next to it."""
COMPARISON_TITLES = {
    "false-positives": "False alarms of kexbench analyze compare",
    "drift": "Differences of lists that are not interleaved, as multiples of what their own scatter predicts",
    "upgrades": "Complete matrices without a change",
    "coverage": "Coverage of 95% intervals",
    "noisy-cells": "Coverage with noisier cells in a matrix of forty, or with extreme values",
    "power": "Regressed cells that are found",
}
LIVE = """\
Two builds of the same source as two versions, through the complete service. A git repository of OpenSSL {source}'s \
sources has two commits that differ in a README. Each time, a spec with `alerts:` measures both. Ten invocations of \
eight cases screen the upgrade, and suspected cells are measured again with {invocations}. Any alert would be false."""
GENUINE = """\
Upgrades to something slower, through the complete service. In the same repository, another commit signs twice \
wherever OpenSSL {source} signs with RSA. Only the server's side of cases with an RSA certificate is slower, and the \
alert should say so. The other upgrade is from release {before} to {after}, each built from its sources with the \
profile of all tracked versions. All slower cases have one cause, the upgrade, and should make one alert."""
