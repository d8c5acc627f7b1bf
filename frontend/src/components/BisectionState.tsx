// The state of a bisection.
import { chipOf, type State, stateText } from "./bisection-model";

export function BisectionState({ state }: { state: State }) {
  return <span className={`chip ${chipOf(state)}`}>{stateText(state)}</span>;
}
