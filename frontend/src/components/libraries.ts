// The libraries that there are, and how people write them.
import type { UpgradeView } from "@/api/generated";

type Library = UpgradeView["library"];

const TITLES: Record<Library, string> = { openssl: "OpenSSL", gnutls: "GnuTLS", fake: "fake" };

export function libraryOf(name: string | undefined): Library | undefined {
  return (Object.keys(TITLES) as Library[]).find((one) => one === name);
}

export function libraryTitle(name: string): string {
  const library = libraryOf(name);
  return library ? TITLES[library] : name;
}
