// Whether the window is as narrow as a phone.
import { useSyncExternalStore } from "react";

/** styles.css has the same width. */
const narrow = () => window.matchMedia("(max-width: 40rem)");

export function useIsNarrow(): boolean {
  return useSyncExternalStore(watch, () => narrow().matches);
}

function watch(changed: () => void): () => void {
  const query = narrow();
  query.addEventListener("change", changed);
  return () => query.removeEventListener("change", changed);
}
