// Shown instead of content: loading, an error, or an empty state.
import { type ReactNode, useEffect, useState } from "react";
import { sentenceOf, troubleOf } from "@/api/problem";

/** Waiting for less needs no words. */
const SAID_AFTER_MS = 2000;

export function Loading({ what, lines = 6 }: { what: string; lines?: number }) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), SAID_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="skeleton" role="status">
      <p className={isLong ? undefined : "visually-hidden"}>
        Loading {what}
        {isLong && ": computed anew after results arrived or the service started; the next time is quick"}
      </p>
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
      <p>{sentenceOf(detail)}</p>
      {remedy && <p className="remedy">{sentenceOf(remedy)}</p>}
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
