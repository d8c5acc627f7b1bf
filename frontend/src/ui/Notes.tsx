// Shown instead of content: loading, an error, or an empty state.
import type { ReactNode } from "react";
import { troubleOf } from "@/api/problem";

export function Loading({ what, lines = 6 }: { what: string; lines?: number }) {
  return (
    <div className="skeleton" role="status">
      <span className="visually-hidden">Loading {what}</span>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines that never change
        <div key={line} />
      ))}
    </div>
  );
}

export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, detail, remedy } = troubleOf(error);
  return (
    <div className="note failed" role="alert">
      <h2>{title}</h2>
      <p>{detail}</p>
      {remedy && <p className="remedy">{remedy}</p>}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="note">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
