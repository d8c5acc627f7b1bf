// The steps of a run from version to version, and the dependencies that changed with the library. Pure.
import type { Cell, Subject } from "@/api/generated";
import { dependencyText } from "@/charts/change-words";
import { versionText } from "@/subjects";
import { libraryTitle } from "./libraries";

export interface Step {
  /** "GnuTLS 3.7.9 → 3.8.9" */
  title: string;
  /** "nettle 3.8.1 → 3.10.1, gmp 6.2.1 → 6.3.0" */
  dependencies: string;
}

/** Steps with changed dependencies. `priors` maps a subject to the subject that it is compared with. */
export function stepsOf(priors: Map<string, Subject>, subjects: Subject[], cells: Cell[]): Step[] {
  return subjects.flatMap((subject) => {
    const prior = priors.get(subject.name);
    const changes = cells.flatMap((cell) => (cell.subject === subject.name && cell.change) || []);
    const dependencies = dependencyText(changes.filter(({ before }) => before.subject === prior?.name));
    if (!prior || !dependencies) return [];
    const title = `${libraryTitle(subject.library)} ${versionText(prior)} → ${versionText(subject)}`;
    return [{ title, dependencies }];
  });
}
