// What went wrong, whatever was thrown: an API problem, a proxy's page or a lost connection.
import type { Candidate, Problem } from "./generated";

export type Trouble = Pick<Problem, "title" | "detail" | "remedy">;

export function troubleOf(error: unknown): Trouble {
  if (isProblem(error)) return error;
  if (error instanceof TypeError) {
    return {
      title: "No answer",
      detail: "The service did not answer.",
      remedy: "Check that `kexbench serve` is running, then try again.",
    };
  }
  return {
    title: "Unexpected answer",
    detail: error instanceof Error ? error.message : "The service answered with something that is no result.",
  };
}

/** Whether the same may be asked with another token. */
export function isRefusedCaller(error: unknown): boolean {
  return isProblem(error) && (error.status === 401 || error.status === 403);
}

/** Whether there is nothing of what was asked for. */
export function isNotFound(error: unknown): boolean {
  return isProblem(error) && error.status === 404;
}

/** What an ambiguous question may mean. */
export function candidatesOf(error: unknown): Candidate[] {
  return isProblem(error) ? (error.candidates ?? []) : [];
}

function isProblem(error: unknown): error is Problem {
  return typeof error === "object" && error !== null && "detail" in error && "title" in error;
}
