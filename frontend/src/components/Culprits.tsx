// The functions that most of an alert's change is in, one sentence each.
import type { Culprit } from "@/api/generated";
import { FunctionName } from "./FunctionName";
import { culpritText } from "./why-model";

export function Culprits({ culprits = [] }: { culprits: Culprit[] | undefined }) {
  return culprits.map((culprit) => (
    <p key={`${culprit.side} ${culprit.function}`}>
      <span className="subject">
        <FunctionName name={culprit.function} />
      </span>{" "}
      {culpritText(culprit)}.
    </p>
  ));
}
