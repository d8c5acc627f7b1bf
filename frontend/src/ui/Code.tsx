// A block of code: it scrolls inside itself, so it must be reachable by keyboard.
import type { ReactNode } from "react";

export function Code({ children, className }: { children: ReactNode; className?: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <pre className={className} tabIndex={0}>
      {children}
    </pre>
  );
}
