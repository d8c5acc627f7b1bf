// A place for wide content: it scrolls inside its frame, never the page.
import type { ReactNode } from "react";

export function Frame({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className="frame" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
