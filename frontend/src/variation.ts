// What a case has beyond protocol, key exchange, group and key, as a reader asks for it. Pure.
import type { CaseView } from "@/api/generated";
import type { Choice } from "@/ui/Fields";

const LABELS = {
  plain: "Plain handshakes only",
  resumption: "Resumption",
  "post-quantum": "Post-quantum",
  threads: "Threads",
  peers: "Two libraries",
  other: "Other variations",
};

export type Variation = keyof typeof LABELS;
export const VARIATIONS = Object.keys(LABELS) as Variation[];

/** A case can be of several kinds, a resumed handshake with threads; a plain one is of no other. */
export function variationsOf(one: CaseView): Variation[] {
  const resumption = one.resumption ?? "none";
  const holds: Record<Exclude<Variation, "plain">, boolean> = {
    resumption: resumption !== "none",
    "post-quantum": /MLKEM/.test(one.group ?? "") || /ML-DSA/.test(one.key_exchange),
    threads: (one.threads ?? 1) > 1,
    peers: (one.peer ?? "-") !== "-",
    other:
      (one.chain_length ?? 1) > 1 ||
      (one.ocsp_bytes ?? 0) > 0 ||
      (one.cpu_features ?? "native") !== "native" ||
      Boolean(one.client_authentication || one.hello_retry || one.fips),
  };
  const found = VARIATIONS.filter((kind) => kind !== "plain" && holds[kind]);
  return found.length > 0 ? found : ["plain"];
}

export function isOf(one: CaseView, variation: Variation | undefined): boolean {
  return !variation || variationsOf(one).includes(variation);
}

/** With the number of cases behind each; none where there is nothing to choose between. */
export function variationChoices(cases: CaseView[], chosen: Variation | undefined): Choice<Variation | "">[] {
  const amounts = new Map<Variation, number>();
  for (const kind of cases.flatMap(variationsOf)) amounts.set(kind, (amounts.get(kind) ?? 0) + 1);
  if (amounts.size < 2 && !chosen) return [];
  return [
    { value: "", label: `All (${cases.length})` },
    ...VARIATIONS.map((value) => ({
      value,
      label: `${LABELS[value]} (${amounts.get(value) ?? 0})`,
      disabled: !amounts.has(value),
    })),
  ];
}
