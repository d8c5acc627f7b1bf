// What a bisection is at.
import { chipOf, type State } from "./bisection-model";

export function BisectionState({ state }: { state: State }) {
  return <span className={`chip ${chipOf(state)}`}>{state}</span>;
}
