// One side of a case: its cost in a sentence, the functions that changed as bars and as a table.
import type { Explanation } from "@/api/generated";
import { INSTRUMENTS } from "@/api/generated/vocabulary.gen";
import { ChangeBars } from "@/charts/MoveChart";
import { amount, changeOfCount, count } from "@/format";
import type { Caption } from "@/picture/picture";
import { ChartFrame } from "@/ui/ChartFrame";
import { Frame } from "@/ui/Frame";
import { FlameSection } from "./FlameSection";
import { FunctionName } from "./FunctionName";
import type { Library } from "./libraries";
import {
  amountsOf,
  amountsText,
  answerOf,
  callsText,
  changeOf,
  changeText,
  crumbsOf,
  drawnOf,
  ownerOf,
  titleOf,
} from "./why-model";

interface Props {
  library: Library;
  /** unique names of both subjects */
  ends: [string, string];
  caseId: string;
  explanation: Explanation;
  /** of a chart with these words in its title */
  caption: (chart: string) => Caption;
}

export function WhySide({ library, ends, caseId, explanation, caption }: Props) {
  const { side, functions } = explanation;
  const instrument = explanation.instrument ?? "instructions";
  const amounts = amountsOf(instrument);
  const owner = side.replace("_", " ");
  const { text, place } = answerOf(explanation);
  const { functions: drawn, left } = drawnOf(explanation);
  return (
    <section className="side">
      <h3>{titleOf(side)}</h3>
      <p>
        <b>
          {text}
          {place && (
            <>
              , most of the change is in <FunctionName name={place} />
            </>
          )}
          .
        </b>
      </p>
      <Path explanation={explanation} />
      {drawn.length > 0 && (
        <ChartFrame caption={caption(`functions of the ${owner}`)}>
          <ChangeBars
            label={`Functions of the ${owner}`}
            bars={drawn.map((changed) => ({
              key: changed.name,
              name: <FunctionName name={changed.name} />,
              change: changeOf(changed),
              words: (
                <>
                  <b className={`verdict ${changeOf(changed) < 0 ? "less" : "more"}`}>
                    {changeText(changed, amounts)}
                  </b>
                  <small className="below">{amountsText(changed)}</small>
                </>
              ),
            }))}
          />
        </ChartFrame>
      )}
      {left > 0 && <p>The table lists {count(left, "more function")} with smaller changes.</p>}
      <details>
        <summary>Table of {ownerOf(side)} functions</summary>
        <Functions
          label={`Table of ${ownerOf(side)} functions`}
          calls={INSTRUMENTS[instrument].calls}
          functions={functions}
        />
      </details>
      <FlameSection
        {...{ library, ends, caseId, instrument, side }}
        caption={caption(`calls of the ${owner}`)}
      />
    </section>
  );
}

/** Where the change is, from the outermost function. The middle of a long path is shown on request. */
function Path({ explanation }: { explanation: Explanation }) {
  const { names, short } = crumbsOf(explanation);
  if (names.length === 0) return null;
  if (!short) {
    return (
      <div className="path">
        Path: <Names names={names} />
      </div>
    );
  }
  return (
    <details>
      <summary>
        Path: <Symbols names={short.first} /> › {count(short.left, "more function")} ›{" "}
        <Symbols names={short.last} />
      </summary>
      <div className="path">
        <Names names={names} />
      </div>
    </details>
  );
}

function Names({ names }: { names: string[] }) {
  return (
    <ol aria-label="Path to the change, from the outermost function">
      {names.map((name) => (
        <li key={name}>
          <FunctionName name={name} />
        </li>
      ))}
    </ol>
  );
}

function Symbols({ names }: { names: string[] }) {
  return names.map((name, index) => (
    <span key={name}>
      {index > 0 && " › "}
      <FunctionName name={name} />
    </span>
  ));
}

interface FunctionsProps {
  label: string;
  /** what is counted of a function beside its amount */
  calls: string;
  functions: Explanation["functions"];
}

function Functions({ label, calls, functions }: FunctionsProps) {
  return (
    <Frame label={label}>
      <table className="numbers functions">
        <thead>
          <tr>
            <th scope="col">Function</th>
            <th scope="col">Library</th>
            <th scope="col" className="number">
              Before
            </th>
            <th scope="col" className="number">
              After
            </th>
            <th scope="col" className="number">
              Change
            </th>
            <th scope="col" className="number">
              {calls.charAt(0).toUpperCase() + calls.slice(1)}
            </th>
          </tr>
        </thead>
        <tbody>
          {functions.map((changed) => (
            <tr key={changed.name}>
              <th scope="row">
                <FunctionName name={changed.name} laterName={changed.later_name} />
              </th>
              <td>{changed.library}</td>
              <td className="number">{amount(Math.round(changed.before))}</td>
              <td className="number">{amount(Math.round(changed.after))}</td>
              <td className="number">{changeOfCount(changeOf(changed))}</td>
              <td className="number">{callsText(changed)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Frame>
  );
}
