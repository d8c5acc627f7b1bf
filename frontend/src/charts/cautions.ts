// Why a change is to be read with care. Pure.
import type { Change } from "@/api/generated";

export function cautionsOf({ paired, warnings }: Change): string[] {
  return paired || warnings.length > 0 ? warnings : ["not interleaved"];
}
