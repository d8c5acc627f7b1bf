// Golden files: user-facing sentences as text, so that a wording changes in its source and in a recorded file only.
import { expect } from "vitest";

/** The sentence or sentences of each situation. */
export type Situations = Record<string, string | readonly string[]>;

/** Compares sentences with `__golden__/NAME.txt` next to the test; `npm test -- -u` records the file again. */
export async function expectGolden(name: string, situations: Situations): Promise<void> {
  const sections = Object.entries(situations).map(([situation, sentences]) =>
    [`## ${situation}`, "", ...[sentences].flat()].join("\n"),
  );
  await expect(`${sections.join("\n\n")}\n`).toMatchFileSnapshot(`__golden__/${name}.txt`);
}
