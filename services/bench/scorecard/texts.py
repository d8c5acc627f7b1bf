"""What the scorecard says beside its figures. Plain text: the page shows it too."""

HEAD = """\
# How good detection is

Written by `make scorecard` on {date} with kexbench {version}, all of it measured anew in one run, but for parts that \
say otherwise; other machines give other figures.
[statistics.md](statistics.md) says how things are judged. Intervals are 95%.

{machine}"""
HISTORIES = """\
How well changes are found in histories whose changes are known (services/bench/data/changepoints says where they are \
from): {sizes}. A change counts as found within five points of where it is; what nobody could find counts neither as \
missed nor as a false alarm. F1, precision and recall are those of the series in which something changes. Constants of \
kexbench's detector were chosen on three fifths of the histories; the others were held back, but for its last two \
rules (changes in parts, and the place of a step), for which two real histories were looked at wherever they belong. \
The other methods are written anew from the papers and documentation of their makers, with the settings that these \
recommend, two of them by the library ruptures.

A series has one point a day, so 1,000 series-weeks are 7,000 points. The delay is how many points of a new level it \
takes until the change is found for the first time, for changes of at least 2.5 noises in the synthetic series \
({delays} at most). Intervals are those of a bootstrap over series (seed {seed}); of delays those of order statistics; \
where there was no false alarm, Poisson's. CPU time is the median of {cpu_series} series of 500 points, of each the \
least of {cpu_times} times over some minutes, and the least and the most of the series in brackets."""
STEPS_ABOUT = """\
How soon a slowdown of a library is found in its history. A kit was measured beside itself and beside kits that burn a \
known share of every timed turn more, {invocations} invocations of each of {cases} cases, {batches} batches each, all \
{subjects} subjects interleaved in fresh processes through the path of every run: {labels}.

From these invocations nightly series are made, {each} of every case and step, of {nights} nights. A night is the \
median over ten invocations, as a run has them, that were measured one after the other, at a random time of the \
measuring (seed {seed}), each relative to the kit itself in the same rounds, as histories are to the sentinel. From a \
random night on, {edge} from both ends at least, they are those of the slower kit. Series share \
invocations, so they tell less than as many independent ones would; the intervals are those of a bootstrap over series \
and do not know that. All methods get the values alone, without the errors that kexbench knows of each night. Delays \
are those of {delays} series of each step."""
UPGRADES = """\
What becomes of an upgrade of a library. The invocations are those measured for the part before: of each of {cases} \
cases of OpenSSL's ten at random screen the upgrade, and where a cell looks like a regression thirty others of that \
cell decide, by the code that judges every upgrade (seed {seed}). First the kit is upgraded to itself, {count} times: \
then every suspicion is false, and no alert should be left. Then to one in which all cases with one property burn \
more, {slowed} times each. The upgrades share the invocations of the pool, so Wilson's interval, which takes them for \
independent, is narrower than it should be.

Below, the tests that others decide by, on ten invocations of each of the two names: of all cases, {partitions} random \
cuts of each pool into disjoint groups. Intervals are Wilson's, for as many independent tests as these are worth."""
VERDICTS = """\
How often a commit's status is red. {commits:,} runs of a commit are simulated for each noise: {cells} cells of \
{invocations} invocations in {jobs} jobs, each invocation a paired log ratio of normal noise with the given standard \
deviation (seed {seed}). The cells are judged, and the status is made, by the code that does it for real runs. The \
screening for alerts is the same code, before it asks for a run that confirms. The last column is the rule that would \
call a cell slower by its own 95% interval, whatever the other cells say. In the second table the last two columns are \
about the slower cell alone."""
COMPARISON = """\
What the code that compares two versions is worth where the truth is known (services/bench/comparison.py, seeded). \
False positives are counted on stored measurements of one thing (services/bench/data), with the filter that scripts \
use, at its two levels, and over whole matrices with false discoveries in check. The coverage is that of a cell's 95% \
interval on simulated noise, alone and in matrices whose cells tell each other's variances. For the power two cells of \
forty are made slower in stored measurements; beside it stands what was asked for."""
COMPARISON_TITLES = {
    "false-positives": "One thing beside itself, by kexbench analyze compare",
    "drift": "How many times as much as their own scatter tells lists differ that are not interleaved",
    "upgrades": "Whole matrices without a change",
    "coverage": "How often 95% intervals hold the truth",
    "noisy-cells": "The same where cells are noisier than the others of a matrix of forty, or values wild",
    "power": "Regressed cells that are found",
}
LIVE = """\
Two builds of one source as two versions, through the whole service: a git repository of OpenSSL {source}'s sources \
with two commits that differ in a README. Each time both are measured by a spec with `alerts:`, screened by ten \
invocations of eight cases, and what is suspected is measured again with {invocations}; an alert would be a false \
one."""
GENUINE = """\
Upgrades that did make something slower, through the whole service. In the same repository another commit signs \
twice wherever OpenSSL {source} signs with RSA: all that is slower is the server's side of cases with an RSA \
certificate, and the alert should say so. And two releases, {before} and {after}, each built from its sources with the \
profile of all tracked versions. Whatever became slower has one cause, the upgrade, and should be one alert."""
