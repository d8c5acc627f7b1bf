// What the search offers: pages of the navigation, named views, and what the service found.
import type { Hit } from "@/api/generated";
import { paths } from "@/paths";

export const KINDS: Record<Hit["kind"], string> = {
  case: "Case",
  upgrade: "Upgrade",
  alert: "Alert",
  run: "Run",
};

export function hitLink(hit: Hit) {
  switch (hit.kind) {
    case "case":
      return paths.series({ case: hit.id });
    case "upgrade":
      return paths.upgrade(hit.library ?? "", hit.before ?? "", hit.id);
    case "alert":
      return paths.alert(hit.id);
    case "run":
      return paths.run(hit.id);
  }
}

/** Those whose titles have all words of a text; none without words. */
export function withWords<T>(text: string, all: readonly T[], titleOf: (item: T) => string): T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return all.filter((item) => words.every((word) => titleOf(item).toLowerCase().includes(word)));
}
