import { expect, it } from "vitest";
import { cpuName } from "./cpu-name";

it.each([
  ["Intel(R) Xeon(R) Processor, SMT off, on KVM, family 6/207, stepping 8", "Xeon 6/207"],
  ["Intel(R) Xeon(R) CPU @ 2.20GHz, microcode 0x1, virtual machine, family 6/79, stepping 0", "Xeon 6/79"],
  ["Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz, family 6/106", "Xeon Platinum 8375C"],
  ["Intel Xeon Processor (Skylake, IBRS), on KVM, family 6/85", "Xeon (Skylake, IBRS) 6/85"],
  ["13th Gen Intel(R) Core(TM) i7-1360P, turbo on", "Core i7-1360P"],
  ["AMD EPYC, on KVM, family 25/17, stepping 1", "EPYC 25/17"],
  ["AMD EPYC 9R14, microcode 0xa101154, turbo off, SMT on, bare metal, family 25/17", "EPYC 9R14"],
  ["AMD EPYC 7763 64-Core Processor, SMT on", "EPYC 7763"],
  ["AMD Ryzen 7 5800U with Radeon Graphics, SMT on", "Ryzen 7 5800U"],
  ["Neoverse-V1, microcode 0x1, bare metal, family 0x41/0xd40", "Neoverse-V1"],
  ["Example CPU 9000", "Example CPU 9000"],
])("shortens %s", (kind, name) => {
  expect(cpuName(kind)).toBe(name);
});

it("keeps what distinguishes kinds of one short name, and nothing else", () => {
  const [older, newer, other] = ["0x1", "0x2"]
    .map((microcode) => `AMD EPYC 9R14, microcode ${microcode}, SMT on, family 25/17`)
    .concat("AMD EPYC 7763 64-Core Processor, microcode 0x3") as [string, string, string];
  const all = [older, newer, other];
  expect(all.map((kind) => cpuName(kind, all))).toEqual([
    "EPYC 9R14, microcode 0x1",
    "EPYC 9R14, microcode 0x2",
    "EPYC 7763",
  ]);
  const less = "AMD EPYC 9R14, microcode 0x1";
  expect(cpuName(less, [less, older])).toBe("EPYC 9R14");
  expect(cpuName(older, [less, older])).toBe("EPYC 9R14, SMT on, family 25/17");
});
