// The libraries that there are, how people write them, and their versions to choose from.
import type { Subject } from "@/api/generated";
import { LIBRARIES } from "@/api/generated/vocabulary.gen";
import { originText, versionText } from "@/subjects";
import type { Choice } from "@/ui/Fields";

export type Library = keyof typeof LIBRARIES;

export function libraryOf(name: string | undefined): Library | undefined {
  return (Object.keys(LIBRARIES) as Library[]).find((library) => library === name);
}

export function libraryTitle(name: string): string {
  const library = libraryOf(name);
  return library ? LIBRARIES[library] : name;
}

/** "OpenSSL 3.5.7", of a commit "OpenSSL 3.6.0-dev 0123abc" */
export function subjectTitle(subject: Pick<Subject, "library" | "version" | "commit">): string {
  return `${libraryTitle(subject.library)} ${versionText(subject)}`;
}

/** By library: "OpenSSL 3.5.7 (debian/trixie)", with the build where several have that name. */
export function subjectChoices(subjects: readonly Subject[]): Choice<string>[] {
  const nameOf = (subject: Subject) => `${subjectTitle(subject)} (${originText(subject)})`;
  const isOnly = (subject: Subject) =>
    subjects.filter((other) => nameOf(other) === nameOf(subject)).length === 1;
  return subjects.map((subject) => ({
    value: subject.name,
    label: isOnly(subject) ? nameOf(subject) : `${nameOf(subject)}, ${subject.build_profile_label}`,
    group: subject.library,
  }));
}
