// What pages show of an answer where libraries are chosen. They ask for all libraries: a published site has no file for
// each choice of several.
import type { Cpus, Matrix } from "./generated";

/** Without the cases that only others have. */
export function matrixOf(matrix: Matrix, libraries: string[] | undefined): Matrix {
  if (!libraries) return matrix;
  const subjects = matrix.subjects.filter(({ library }) => libraries.includes(library));
  const shown = new Set(subjects.map(({ name }) => name));
  const cells = matrix.cells.filter(({ subject }) => shown.has(subject));
  const cases = new Set(cells.map(({ case_id }) => case_id));
  return { ...matrix, subjects, cells, cases: matrix.cases.filter(({ id }) => cases.has(id)) };
}

export function cpusOf(cpus: Cpus, libraries: string[] | undefined): Cpus {
  if (!libraries) return cpus;
  return { ...cpus, rows: cpus.rows.filter(({ subject }) => libraries.includes(subject.library)) };
}
