// Why cells of a run have no number, or only some: one line a reason, however many cells share it. Pure.
import type { OutcomeView, Subject } from "@/api/generated";
import { count } from "@/format";
import { originText, versionText } from "@/subjects";

export interface Reason {
  /** "12 cells without client and server apart: disturbed: other programs ran" */
  words: string;
  /** "TLS 1.3 ECDHE-RSA, openssl 3.5.7 (system): 6 invocations", with what the worker said */
  cells: string[];
}

interface Outcomes {
  cases: { id: string; title: string }[];
  subjects: Subject[];
  cells: {
    case_id: string;
    subject: string;
    estimate?: object | null;
    outcome?: OutcomeView | null;
    sides_outcome?: OutcomeView | null;
  }[];
}

export function reasonsOf({ cases, subjects, cells }: Outcomes): Reason[] {
  const titles = new Map(cases.map(({ id, title }) => [id, title]));
  const names = new Map(
    subjects.map((subject) => [
      subject.name,
      `${subject.library} ${versionText(subject)} (${originText(subject)})`,
    ]),
  );
  const byReason = new Map<string, string[]>();
  for (const cell of cells) {
    const note = (effect: string, outcome: OutcomeView | null | undefined) => {
      if (!outcome) return;
      const key = `${effect}: ${outcome.kind}: ${outcome.reason}`;
      const place = `${titles.get(cell.case_id) ?? cell.case_id}, ${names.get(cell.subject) ?? cell.subject}`;
      const said = outcome.detail ? `; ${outcome.detail}` : "";
      const line = `${place}: ${count(outcome.invocations, "invocation")}${said}`;
      byReason.set(key, [...(byReason.get(key) ?? []), line]);
    };
    note(cell.estimate ? "with fewer invocations than planned" : "without a result", cell.outcome);
    note("without client and server apart in some or all invocations", cell.sides_outcome);
  }
  return [...byReason].map(([key, lines]) => ({
    words: `${count(lines.length, "cell")} ${key}`,
    cells: lines,
  }));
}
