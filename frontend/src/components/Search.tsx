// The button that opens the search, and its keys: / and Ctrl+K.
import { lazy, Suspense, useEffect, useState } from "react";

const SearchDialog = lazy(async () => ({
  default: (await import("@/components/SearchDialog")).SearchDialog,
}));

export function Search() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (!opensSearch(event)) return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener("keydown", open);
    return () => document.removeEventListener("keydown", open);
  }, []);
  return (
    <>
      <button type="button" className="search" aria-keyshortcuts="/ Control+K" onClick={() => setOpen(true)}>
        Search <kbd>/</kbd>
      </button>
      {isOpen && (
        <Suspense>
          <SearchDialog close={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

/** A slash opens it only where it would not be typed. */
function opensSearch(event: KeyboardEvent): boolean {
  if (document.querySelector("dialog[open]")) return false;
  if (event.key === "k") return event.ctrlKey || event.metaKey;
  const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
  return event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
}
