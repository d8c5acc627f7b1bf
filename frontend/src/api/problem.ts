// The error of any exception: an API problem, a proxy’s page or a lost connection.
import type { Candidate, Problem } from "./generated";

export type Trouble = Pick<Problem, "title" | "detail" | "remedy">;

export function troubleOf(error: unknown): Trouble {
  if (isProblem(error)) return error;
  if (error instanceof TypeError) {
    return {
      title: "No response",
      detail: "The service did not respond.",
      remedy: "Check that `kexbench serve` is running, then try again.",
    };
  }
  return {
    title: "Unexpected response",
    detail: error instanceof Error ? error.message : "The service did not return a result.",
  };
}

/** Whether the same request may succeed with another token. */
export function isRefusedCaller(error: unknown): boolean {
  return isProblem(error) && (error.status === 401 || error.status === 403);
}

/** Whether the requested thing does not exist. */
export function isNotFound(error: unknown): boolean {
  return isProblem(error) && error.status === 404;
}

/** The possible meanings of an ambiguous request. */
export function candidatesOf(error: unknown): Candidate[] {
  return isProblem(error) ? (error.candidates ?? []) : [];
}

function isProblem(error: unknown): error is Problem {
  return typeof error === "object" && error !== null && "detail" in error && "title" in error;
}
