// The error of any exception: an API problem, a proxy’s page or a lost connection.
import type { Candidate, Problem } from "./generated";
import { LIBRARIES } from "./generated/vocabulary.gen";

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

const NAMES = ["kexbench", ...Object.keys(LIBRARIES)];

/** A message of the API as a sentence. It begins as after "error: " in a terminal; names and commands keep their case. */
export function sentenceOf(message: string): string {
  const [first = ""] = message.split(" ");
  const isWord = /^[a-z]+$/.test(first) && !NAMES.includes(first);
  const begun = isWord ? message.charAt(0).toUpperCase() + message.slice(1) : message;
  return /[\p{L}\p{N})'`]$/u.test(begun) ? `${begun}.` : begun;
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
