// The steps of a run, from one version to the next, and what changed along with the library. Pure.
import type { Cell, SubjectView } from "@/api/generated";
import { versionText } from "@/subjects";
import { libraryTitle } from "./libraries";
import { alongText } from "./upgrade-model";

export interface Step {
  /** "GnuTLS 3.7.9 → 3.8.9" */
  title: string;
  /** "nettle 3.8.1 → 3.10.1, gmp 6.2.1 → 6.3.0" */
  along: string;
}

/** Those that came with something else; `priors`: of a subject the one that it is compared with. */
export function stepsOf(priors: Map<string, SubjectView>, subjects: SubjectView[], cells: Cell[]): Step[] {
  return subjects.flatMap((subject) => {
    const prior = priors.get(subject.subject);
    const changes = cells.flatMap((cell) => (cell.subject === subject.subject && cell.change) || []);
    const along = alongText(changes.filter(({ against }) => against === prior?.subject));
    if (!prior || !along) return [];
    return [
      { title: `${libraryTitle(subject.library)} ${versionText(prior)} → ${versionText(subject)}`, along },
    ];
  });
}
