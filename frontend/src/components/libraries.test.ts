import { expect, it } from "vitest";
import { aSubject } from "@/testing/build";
import { subjectChoices } from "./libraries";

it("versions to choose from have their library’s name, and their build where the name is not enough", () => {
  const one = aSubject("gnutls", "3.8.9");
  const twin = { ...one, name: "twin", build_profile_label: "another build" };
  const openssl = aSubject("openssl", "3.8.9");
  expect(subjectChoices([one, openssl]).map(({ label }) => label)).toEqual([
    "GnuTLS 3.8.9 (debian/trixie)",
    "OpenSSL 3.8.9 (debian/trixie)",
  ]);
  expect(subjectChoices([one, twin]).map(({ label }) => label)).toEqual([
    `GnuTLS 3.8.9 (debian/trixie), ${one.build_profile_label}`,
    "GnuTLS 3.8.9 (debian/trixie), another build",
  ]);
});
