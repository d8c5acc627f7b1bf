import { expect, it } from "vitest";
import { aCase, aCell, aSubject } from "@/testing/build";
import type { CpuRow, Cpus, Matrix } from "./generated";
import { cpusOf, matrixOf } from "./libraries";

const HOST = { pool: "local", cpu_model: "a CPU" };
const openssl = { ...aSubject("openssl", "3.0"), name: "openssl@3.0" };
const gnutls = { ...aSubject("gnutls", "3.8"), name: "gnutls@3.8" };

it("a matrix of some libraries lacks the cases that only others have", () => {
  const cellOf = (caseId: string, subject: typeof openssl) => ({
    ...aCell(caseId, subject, {}),
    subject: subject.name,
  });
  const [both, alone] = [aCase("both"), aCase("alone")];
  const matrix: Matrix = {
    host_kind: HOST,
    metric: "cpu_ns",
    cases: [both, alone],
    subjects: [gnutls, openssl],
    cells: [cellOf("both", gnutls), cellOf("both", openssl), cellOf("alone", gnutls)],
  };
  expect(matrixOf(matrix, undefined)).toBe(matrix);
  expect(matrixOf(matrix, ["openssl"])).toEqual({
    ...matrix,
    cases: [both],
    subjects: [openssl],
    cells: [cellOf("both", openssl)],
  });
});

it("CPUs keep their choices when some libraries are shown", () => {
  const rows = [gnutls, openssl].map((subject) => ({ host_kind: HOST, subject }) as CpuRow);
  const cpus: Cpus = {
    choices: [{ id: "rsa", title: "RSA" }],
    case: aCase("rsa"),
    metric: "cpu_ns",
    base: HOST,
    host_kinds: [HOST],
    rows,
  };
  expect(cpusOf(cpus, undefined)).toBe(cpus);
  expect(cpusOf(cpus, ["gnutls"])).toEqual({ ...cpus, rows: rows.slice(0, 1) });
});
