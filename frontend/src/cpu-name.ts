// Short names of host kinds. The API's text of a kind has every trait that makes machines comparable, for reading on
// demand. Pure.

const MAKERS = /^(\d+th Gen )?(Intel(\(R\))?|AMD) /;

/** "EPYC 9R14" or, where the name has no model number, "Xeon 6/207" with family and model. If other kinds have the same
 * short name, it has what distinguishes this one too: "EPYC 9R14, microcode 0xa101154". */
export function cpuName(kind: string, among: readonly string[] = []): string {
  const name = alone(kind);
  const namesakes = among.filter((other) => other !== kind && alone(other) === name);
  const own = traitsOf(kind).filter((trait) => !namesakes.every((other) => traitsOf(other).includes(trait)));
  return [name, ...own].join(", ");
}

function alone(kind: string): string {
  const full = modelOf(kind);
  if (!MAKERS.test(full)) return full;
  const name = full
    .replace(MAKERS, "")
    .replace(/\((R|TM)\)/gi, "")
    .replace(/ @ .*$| \d+-Core\b| with .* Graphics$/g, "")
    .replace(/ (CPU|Processor)\b/g, "")
    .trim();
  const family = /, family (\d+\/\d+)/.exec(kind)?.[1];
  return family && !/\d/.test(name) ? `${name} ${family}` : name;
}

/** A model's name may have commas of its own, in parentheses. */
function modelOf(kind: string): string {
  return /^(\([^)]*\)|[^,])*/.exec(kind)?.[0] ?? kind;
}

function traitsOf(kind: string): string[] {
  return kind.slice(modelOf(kind).length).split(", ").filter(Boolean);
}
