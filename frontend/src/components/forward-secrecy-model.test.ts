import { describe, expect, it } from "vitest";
import type { HandshakeView, LevelView } from "@/api/generated";
import { expectGolden } from "@/testing/golden";
import { answersOf, handshakeRows, postQuantumText, sizesText } from "./forward-secrecy-model";

const level = { cheapest_case: "ecdhe", rsa_case: "rsa" };

function handshake(id: string, values: Partial<HandshakeView> = {}): HandshakeView {
  return {
    case: { id, title: `title of ${id}` } as HandshakeView["case"],
    bits: 128,
    parts: [],
    limited_by: "P-256",
    forward_secret: true,
    post_quantum_key_exchange: false,
    post_quantum_authentication: false,
    cost: { value: 250_000, low: 249_000, high: 252_000, invocations: 8 },
    against_rsa: { ratio: 0.5, low: 0.49, high: 0.51 },
    verdict: "less",
    resolves: 0.02,
    not_compared: null,
    run_id: "run",
    measured_at: "2026-01-01T00:00:00Z",
    ...values,
  };
}

const rsa = handshake("rsa", {
  forward_secret: false,
  cost: { value: 500_000, low: null, high: null, invocations: 3 },
  against_rsa: { ratio: 1, low: 1, high: 1 },
  verdict: "same",
  resolves: null,
});
const elsewhere = handshake("elsewhere", {
  against_rsa: null,
  verdict: null,
  resolves: null,
  bits: null,
  not_compared: "another run",
});

describe("the handshakes of a level", () => {
  it("are written as people read them", async () => {
    const rows = handshakeRows([handshake("ecdhe"), rsa, elsewhere], level);
    await expectGolden(
      "forward-secrecy",
      Object.fromEntries(
        rows.map(({ caseId, width, ...texts }) => [
          caseId,
          Object.entries({ width: `${width}%`, ...texts }).map(([name, text]) => `${name}: ${text}`),
        ]),
      ),
    );
  });

  it("have no role without a level", () => {
    expect(handshakeRows([handshake("ecdhe"), rsa], null).map(({ role }) => role)).toEqual([null, null]);
  });

  it("are post-quantum as a whole only where both parts are", () => {
    const texts = [false, true].flatMap((exchange) =>
      [false, true].map((authentication) =>
        postQuantumText({
          post_quantum_key_exchange: exchange,
          post_quantum_authentication: authentication,
        }),
      ),
    );
    expect(texts).toEqual(["no", "authentication only", "key exchange only", "yes"]);
  });
});

describe("the sizes of a level", () => {
  const sizes: LevelView["sizes"] = {
    level_bits: 128,
    rsa_bits: 3072,
    dh_groups: ["ffdhe3072"],
    ecdhe_groups: ["P-256", "X25519"],
    mlkem_groups: ["MLKEM512"],
    curves: ["P-256"],
    keys: ["Ed25519"],
    cipher: "AES-128-GCM",
  };

  it("are one line", () => {
    expect(sizesText({ sizes })).toBe(
      "RSA 3072; DHE ffdhe3072; ECDHE P-256, X25519, MLKEM512; ECDSA P-256; Ed25519; AES-128-GCM",
    );
  });

  it("are nothing where the authority has none", () => {
    const none = { dh_groups: [], ecdhe_groups: [], mlkem_groups: [], curves: [], keys: [], cipher: null };
    expect(sizesText({ sizes: { ...sizes, ...none, rsa_bits: null } })).toBe("");
  });
});

it("levels in a row with the same answers are one", () => {
  const answer = (level_bits: number, cheapest: string) =>
    ({ level_bits, cheapest, forward_secrecy_adds: "2%" }) as LevelView;
  const levels = [answer(80, "a"), answer(96, "a"), answer(112, "a"), answer(128, "b"), answer(192, "a")];
  expect(answersOf(levels).map(({ bits, cheapest }) => [bits, cheapest])).toEqual([
    ["80, 96 and 112 bits", "a"],
    ["128 bits", "b"],
    ["192 bits", "a"],
  ]);
});
