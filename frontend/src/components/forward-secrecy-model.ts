// The words and the widths of the table of equally strong handshakes. Pure: the API ranks, compares and concludes.
import type { HandshakeView, LevelView } from "@/api/generated";
import * as format from "@/format";

export interface HandshakeRow {
  caseId: string;
  title: string;
  /** what the level's answers call this handshake */
  role: string | null;
  /** share of the longest bar of the level, in percent */
  width: number;
  cost: string;
  interval: string;
  against: string;
  notCompared: string | null;
  againstInterval: string | null;
  verdict: HandshakeView["verdict"];
  resolves: number | null;
  forwardSecret: string;
  postQuantum: string;
  strength: string;
  limitedBy: string;
}

export interface LevelAnswer {
  /** "80, 96 and 112 bits" */
  bits: string;
  cheapest: string;
  adds: string;
}

/** Levels in a row with the same answers stand together. */
export function answersOf(levels: LevelView[]): LevelAnswer[] {
  const groups: LevelView[][] = [];
  for (const level of levels) {
    const [last] = groups.at(-1) ?? [];
    const isSame =
      last?.cheapest === level.cheapest && last.forward_secrecy_adds === level.forward_secrecy_adds;
    if (isSame) groups.at(-1)?.push(level);
    else groups.push([level]);
  }
  return groups.map((group) => ({
    bits: `${group
      .map(({ level_bits }) => level_bits)
      .join(", ")
      .replace(/, (\d+)$/, " and $1")} bits`,
    cheapest: group[0]?.cheapest ?? "",
    adds: group[0]?.forward_secrecy_adds ?? "",
  }));
}

export function handshakeRows(
  handshakes: HandshakeView[],
  level: Pick<LevelView, "cheapest_case" | "rsa_case"> | null,
): HandshakeRow[] {
  const longest = Math.max(...handshakes.map(({ cost }) => cost.value));
  return handshakes.map((handshake) => {
    const { cost, against_rsa: ratio } = handshake;
    const id = handshake.case.id;
    return {
      caseId: id,
      title: handshake.case.title,
      role: roleOf(id, level),
      width: (100 * cost.value) / longest,
      cost: format.time(cost.value),
      interval: format.interval(cost, "cpu_ns"),
      against: id === level?.rsa_case ? "1" : ratio ? format.factor(ratio.ratio) : "–",
      notCompared: handshake.not_compared,
      againstInterval: ratio && id !== level?.rsa_case ? format.plainInterval(ratio) : null,
      verdict: handshake.verdict,
      resolves: handshake.resolves,
      forwardSecret: handshake.forward_secret ? "yes" : "no",
      postQuantum: postQuantumText(handshake),
      strength: handshake.bits === null ? "unknown" : `${handshake.bits} bits`,
      limitedBy: handshake.limited_by,
    };
  });
}

function roleOf(caseId: string, level: Pick<LevelView, "cheapest_case" | "rsa_case"> | null): string | null {
  if (caseId === level?.cheapest_case) return "cheapest with forward secrecy";
  return caseId === level?.rsa_case ? "baseline" : null;
}

/** "yes" only where a quantum computer breaks neither part. */
export function postQuantumText({
  post_quantum_key_exchange: exchange,
  post_quantum_authentication: authentication,
}: Pick<HandshakeView, "post_quantum_key_exchange" | "post_quantum_authentication">): string {
  if (exchange && authentication) return "yes";
  if (exchange) return "key exchange only";
  return authentication ? "authentication only" : "no";
}

/** "RSA 3072; DHE ffdhe3072; ECDHE P-256, X25519, MLKEM512; ECDSA P-256; Ed25519, ML-DSA-44; AES-128-GCM" */
export function sizesText({ sizes }: Pick<LevelView, "sizes">): string {
  const parts = [
    sizes.rsa_bits === null ? "" : `RSA ${sizes.rsa_bits}`,
    listed("DHE", sizes.dh_groups),
    listed("ECDHE", [...sizes.ecdhe_groups, ...sizes.mlkem_groups]),
    listed("ECDSA", sizes.curves),
    sizes.keys.join(", "),
    sizes.cipher ?? "",
  ];
  return parts.filter(Boolean).join("; ");
}

function listed(name: string, values: string[]): string {
  return values.length > 0 ? `${name} ${values.join(", ")}` : "";
}
