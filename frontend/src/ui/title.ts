import { useEffect } from "react";

/** The window's title: what the page shows, then the product. */
export function useTitle(page: string): void {
  useEffect(() => {
    document.title = page ? `${page} · kexbench` : "kexbench";
  }, [page]);
}
