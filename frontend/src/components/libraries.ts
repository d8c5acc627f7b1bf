// The libraries that there are, and how people write them.
import { LIBRARIES } from "@/api/generated/vocabulary.gen";

export type Library = keyof typeof LIBRARIES;

export function libraryOf(name: string | undefined): Library | undefined {
  return (Object.keys(LIBRARIES) as Library[]).find((library) => library === name);
}

export function libraryTitle(name: string): string {
  const library = libraryOf(name);
  return library ? LIBRARIES[library] : name;
}
