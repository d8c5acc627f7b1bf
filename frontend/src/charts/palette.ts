// The canvas reads its colours from the style sheet, and hears when the scheme changes.
import { useSyncExternalStore } from "react";

export interface Palette {
  scheme: string;
  text: string;
  faint: string;
  line: string;
  hues: string[];
}

const HUES = 4;
/** The marks of lines of one hue, as they stand in a legend. */
export const SHAPES = ["●", "■", "▲"];
const dark = () => window.matchMedia("(prefers-color-scheme: dark)");

export function useScheme(): string {
  return useSyncExternalStore(
    (changed) => {
      const query = dark();
      query.addEventListener("change", changed);
      return () => query.removeEventListener("change", changed);
    },
    () => (dark().matches ? "dark" : "light"),
  );
}

export function readPalette(scheme: string): Palette {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    scheme,
    text: read("--text"),
    faint: read("--faint"),
    line: read("--line"),
    hues: Array.from({ length: HUES }, (_, hue) => read(`--hue-${hue}`)),
  };
}
