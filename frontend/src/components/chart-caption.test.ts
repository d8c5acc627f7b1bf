import { expect, it } from "vitest";
import { aSubject } from "@/testing/build";
import { captionOf, subjectsText } from "./chart-caption";

const CPU = { pool: "local", cpu_model: "a CPU" };
const TODAY = new Date("2026-12-24T20:00:00Z");

it("says what was measured, where and when", () => {
  const measured = ["2026-02-03T10:00:00Z", "2026-01-01T10:00:00Z", "2026-01-09T10:00:00Z"];
  expect(captionOf({ title: "A case", subjects: "OpenSSL 3.5.4", hosts: [CPU, CPU], measured })).toEqual({
    title: "A case",
    facts: ["OpenSSL 3.5.4", "local: a CPU", "Measured from 1 Jan 2026 to 3 Feb 2026"],
  });
});

it("has the date of the picture where no other is known, and leaves out what is empty", () => {
  const { facts } = captionOf({ title: "Calls", subjects: "", hosts: [] }, TODAY);
  expect(facts).toEqual(["As of 24 Dec 2026"]);
});

it("counts host kinds and versions that are too many to name", () => {
  const hosts = [1, 2, 3, 4, 5].map((number) => ({ pool: "local", cpu_model: `CPU ${number}` }));
  expect(captionOf({ title: "", subjects: "", hosts }, TODAY).facts[0]).toBe("5 host kinds");
  const versions = ["3.0", "3.1", "3.2", "3.3", "3.4"].map((version) => aSubject("openssl", version));
  expect(subjectsText([...versions, aSubject("gnutls", "3.8")])).toBe(
    "OpenSSL 3.0 to 3.4 (5 versions); GnuTLS 3.8",
  );
});
