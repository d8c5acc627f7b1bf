// How subjects are named: a version of a library, or one of its commits.
import type { Difference, Subject, UpgradeEnd } from "@/api/generated";

const SHORT_HASH = 7;

type Versioned = Pick<Subject, "version" | "commit">;
type Sourced = Pick<Subject, "source" | "commit">;

/** "3.5.7", of a commit "3.6.0-dev 0123abc". */
export function versionText({ version, commit }: Versioned): string {
  return commit ? `${version} ${commit.hash.slice(0, SHORT_HASH)}` : version;
}

/** "debian/trixie", of a commit "2026-11-21, Fix a leak". */
export function originText({ source, commit }: Sourced): string {
  return commit ? commitText(commit) : source;
}

/** The same where there is little room: of a commit its day. */
export function shortOrigin({ source, commit }: Sourced): string {
  return commit ? dayOf(commit) : source;
}

/** "2026-11-21, Fix a leak" */
export function commitText(commit: NonNullable<Subject["commit"]>): string {
  return [dayOf(commit), commit.subject].filter(Boolean).join(", ");
}

/** Two points of a history are one place on an axis where this is equal. */
export function placeOf({ version_key, commit }: Pick<Subject, "version_key" | "commit">): string {
  return `${version_key} ${commit?.hash ?? ""}`;
}

function dayOf(commit: NonNullable<Subject["commit"]>): string {
  return commit.committed_at.slice(0, 10);
}

/** An end of a change: "3.0.19 (debian/bookworm)", of a commit "3.6.0-dev 0123abc". */
export function endText({ version, source }: Pick<UpgradeEnd, "version" | "source">): string {
  const hash = version.split(" ")[1];
  return (hash && source.includes(hash)) || source === version ? version : `${version} (${source})`;
}

/** "nettle 3.8.1 → 3.10.1" */
export function componentText({ what, before, after }: Difference): string {
  return `${what} ${before} → ${after}`;
}
