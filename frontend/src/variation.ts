// The kinds of cases that a reader filters by; the API says which kinds a case is of. Pure.
import type { CaseView } from "@/api/generated";
import { KINDS } from "@/api/generated/vocabulary.gen";
import type { Choice } from "@/ui/Fields";

export type Variation = keyof typeof KINDS;
export const VARIATIONS = Object.keys(KINDS) as Variation[];

export function isOf(caseView: CaseView, variation: Variation | undefined): boolean {
  return !variation || caseView.kinds.includes(variation);
}

/** With the number of cases behind each; none where there is nothing to choose between. */
export function variationChoices(cases: CaseView[], chosen: Variation | undefined): Choice<Variation | "">[] {
  const amounts = new Map<Variation, number>();
  for (const kind of cases.flatMap((caseView) => caseView.kinds))
    amounts.set(kind, (amounts.get(kind) ?? 0) + 1);
  if (amounts.size < 2 && !chosen) return [];
  return [
    { value: "", label: `All (${cases.length})` },
    ...VARIATIONS.map((value) => ({
      value,
      label: `${KINDS[value]} (${amounts.get(value) ?? 0})`,
      disabled: !amounts.has(value),
    })),
  ];
}
