// The choices of a page. Where there is little room they are closed at first, so that results come first.
import type { ReactNode } from "react";
import { useIsNarrow } from "./narrow";

interface Props {
  label?: string;
  className?: string;
  children: ReactNode;
}

export function Controls({ label = "Filters", className = "controls", children }: Props) {
  const isNarrow = useIsNarrow();
  const form = (
    <form className={className} aria-label={label} onSubmit={(event) => event.preventDefault()}>
      {children}
    </form>
  );
  if (!isNarrow) return form;
  return (
    <details className="choices">
      <summary>{label}</summary>
      {form}
    </details>
  );
}
