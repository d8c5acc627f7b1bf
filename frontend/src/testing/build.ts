// Small answers for unit tests, in the contract's shapes.
import type {
  AlertSummary,
  CallNode,
  CaseExplanation,
  CaseView,
  Cell,
  Change,
  ChangePoint,
  CheckView,
  Commit,
  ComparedCell,
  Estimate,
  Explanation,
  FunctionChange,
  Negotiated,
  Ratio,
  RunEvent,
  Subject,
  Trend,
  UpgradeEnd,
} from "@/api/generated";

export function aCase(id: string, title = id): CaseView {
  return {
    id,
    title,
    protocol: "TLSv1.2",
    key_exchange: "RSA",
    cipher: "AES-128-GCM",
    group: "-",
    rsa_bits: 2048,
    curve: "-",
    kinds: ["plain"],
  };
}

export function aSubject(library: string, version: string, versionKey = version): Subject {
  return {
    name: `${library}@${version}`,
    library,
    version,
    version_key: versionKey,
    source: "debian/trixie",
    build_profile: "p1",
    build_profile_label: "debian shared x86_64",
    kit_id: "k",
    commit: null,
  };
}

export function anEstimate(value: number, low: number | null = value, high: number | null = value): Estimate {
  return { value, low, high, invocations: low === null ? 3 : 10 };
}

export function anEndOf({ name, version, source, build_profile_label }: Subject): UpgradeEnd {
  return { subject: name, version, source, build_profile_label, label: `OpenSSL ${version}` };
}

export function aChange(change: Partial<Change>): Change {
  return {
    before: anEndOf(aSubject("openssl", "1")),
    after: anEndOf(aSubject("openssl", "2")),
    ratio: 1,
    low: 1,
    high: 1,
    paired: true,
    verdict: "same",
    resolves: null,
    warnings: [],
    components: [],
    ...change,
  };
}

export function aCell(caseId: string, subject: Subject, cell: Partial<Cell>): Cell {
  return {
    case_id: caseId,
    subject: subject.name,
    estimate: null,
    change: null,
    apart_from: null,
    outcome: null,
    sides_outcome: null,
    to_sentinel: null,
    negotiated: null,
    run_id: "r",
    measured_at: "2026-01-01T00:00:00Z",
    ...cell,
  };
}

export function aNegotiated(negotiated: Partial<Negotiated>): Negotiated {
  return {
    protocol: "TLSv1.2",
    cipher: "AES-128-GCM",
    group: "-",
    signature: "-",
    peer_key: "RSA",
    peer_key_bits: 2048,
    resumed: false,
    ...negotiated,
  };
}

/** `costs`: of the subjects at these places of the answer */
export function aTrend(trend: Partial<Trend>, costs: [place: number, ns: number][]): Trend {
  return {
    case_id: "rsa",
    host_kind: { pool: "local", cpu_model: "CPU A" },
    metric: "cpu_ns",
    library: "openssl",
    build_profile_label: "shared",
    points: costs.map(([subject, value]) => ({
      subject,
      run_id: "r",
      measured_at: `2026-01-0${subject + 1}T00:00:00Z`,
      value,
      low: value * 0.9,
      high: value * 1.1,
      invocations: 10,
    })),
    change_points: [],
    through_sentinel: false,
    ...trend,
  };
}

/** 5% more time, as judged. */
export function aChangePoint(change: Partial<ChangePoint>): ChangePoint {
  const [before, after] = ["1", "2"].map((version) => anEndOf(aSubject("openssl", version))) as [
    UpgradeEnd,
    UpgradeEnd,
  ];
  return {
    index: 1,
    before,
    after,
    move: aMove(1.05),
    verdict: "more",
    z: 8,
    ...change,
  };
}

/** So many minutes after midnight. */
export function anEvent(state: RunEvent["state"], minute: number, detail = ""): RunEvent {
  return { run_id: "r", at: `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z`, state, detail };
}

export function aCommit(commit: Partial<Commit>): Commit {
  return {
    repository: "benchmarks",
    branch: "main",
    commit: "0123456789abcdef0123456789abcdef01234567",
    title: "a change",
    author: "Ada Example",
    committed_at: "2026-01-01T00:00:00Z",
    ...commit,
  };
}

export function aCheck(check: Partial<CheckView>): CheckView {
  return {
    path: "bench-specs/quick.yaml",
    reason: "spec",
    run_id: "r",
    faults: [],
    dry_run: null,
    state: "finished",
    detail: "",
    invocations_stored: 0,
    ...check,
  };
}

/** 2% more time, all of it the server's. */
export function aComparedCell(caseId: string, cell: Partial<ComparedCell> = {}): ComparedCell {
  const kind = { pool: "local", cpu_model: "a CPU" };
  return {
    case_id: caseId,
    title: caseId,
    host_kind: kind,
    verdict: "more",
    move: aMove(1.02),
    client: { ...aMove(1), verdict: "same" },
    server: { ...aMove(1.03), verdict: "more" },
    q: 0.001,
    resolves: 0.004,
    paired: true,
    before_ns: 1_000_000,
    after_ns: 1_020_000,
    invocations: 10,
    run_ids: ["r"],
    warnings: [],
    other_case_id: caseId,
    other_host_kind: kind,
    unalike: [],
    estimates: { both: [anEstimate(1_000_000), anEstimate(1_020_000)] },
    ...cell,
  };
}

export function aMove(ratio: number): Ratio {
  return { ratio, low: ratio - 0.01, high: ratio + 0.01 };
}

export function anEnd(version: string, source = "debian/trixie"): UpgradeEnd {
  const subject = `openssl@${version}~${source}`;
  return { subject, version, source, build_profile_label: "shared", label: `OpenSSL ${version}` };
}

/** Instructions of a function before and after, called once a handshake. */
export function aFunction(name: string, before: number, after: number): FunctionChange {
  return {
    name,
    later_name: name,
    library: "libcrypto",
    before,
    after,
    calls_before: 1,
    calls_after: 1,
    share: 0,
  };
}

export function aCall(name: string, before: number, after: number, children: CallNode[] = []): CallNode {
  return { name, later_name: name, library: "libcrypto", before, after, children };
}

export function anExplanation(explanation: Partial<Explanation> = {}): Explanation {
  const { before, after } = { before: 1000, after: 1000, ...explanation };
  return {
    side: "server",
    before,
    after,
    functions: [],
    path: [],
    spread: 0,
    parts: [],
    has_changed: before !== after,
    ...explanation,
  };
}

export function aWhy(caseId: string, sides: Explanation[] = []): CaseExplanation {
  return {
    case_id: caseId,
    title: caseId,
    sides,
    counted_at: "2026-01-01T00:00:00Z",
    run_ids: ["r"],
    other_code: false,
  };
}

export function anAlert(alert: Partial<AlertSummary> = {}): AlertSummary {
  return {
    alert_id: "a",
    cause: { kind: "upgrade", library: "openssl", before: "3.0.19", after: "3.5.4" },
    status: "open",
    version: 0,
    raised_at: "2026-01-01T00:00:00Z",
    changed_at: "2026-01-01T00:00:00Z",
    sentence: "OpenSSL 3.0.19 → 3.5.4: slower in 1 of 8 cases, by 2.0%.",
    spec_names: ["nightly"],
    cells: 1,
    cpu_models: ["a CPU"],
    most: aMove(1.02),
    before: 1e6,
    after: 1.02e6,
    assignee: "",
    due: null,
    ignored_until: null,
    fixed_in: "",
    ...alert,
  };
}
