// The flame graph of one side of a case: fetched when it is opened, with its table and its files.
import { useQuery } from "@tanstack/react-query";
import { type CSSProperties, lazy, Suspense, useState } from "react";
import type { CallNode, Explanation, Instrument } from "@/api/generated";
import { upgradeWhyStacksOptions } from "@/api/generated/@tanstack/react-query.gen";
import { amount, changeOfCount } from "@/format";
import { profilePath } from "@/paths";
import type { Caption } from "@/picture/picture";
import { ChartFrame } from "@/ui/ChartFrame";
import { Frame } from "@/ui/Frame";
import { Failed, Loading } from "@/ui/Notes";
import { FunctionName } from "./FunctionName";
import type { Library } from "./libraries";
import { amountsOf, askedOf, hasUnnamed, levelsOf, ownerOf } from "./why-model";

const FlameGraph = lazy(async () => ({ default: (await import("@/charts/FlameGraph")).FlameGraph }));

interface CountedSide {
  library: Library;
  /** unique names of both subjects */
  ends: [string, string];
  caseId: string;
  instrument: Instrument;
  side: Explanation["side"];
}

interface Props extends CountedSide {
  caption: Caption;
}

export function FlameSection(counted: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Flame graph of the {counted.side.replace("_", " ")}: {amountsOf(counted.instrument)}
      </summary>
      {isOpen && <Opened {...counted} />}
    </details>
  );
}

function Opened({ library, ends: [before, after], caseId, instrument, side, caption }: Props) {
  const stacks = useQuery(
    upgradeWhyStacksOptions({
      query: { library, before, after, case_id: caseId, side, ...askedOf(instrument) },
    }),
  );
  const amounts = amountsOf(instrument);
  const loading = <Loading what="the flame graph" lines={8} />;
  if (stacks.isError) return <Failed error={stacks.error} retry={() => void stacks.refetch()} />;
  if (!stacks.data) return loading;
  return (
    <>
      <p>
        Each box is a function, below the function that calls it. Its width is its {amounts} in both versions
        together, with those of functions that it calls. Its colour is the change:{" "}
        <span className="swatch more">more</span> or <span className="swatch less">fewer</span> {amounts}.
        Select a box to zoom in; the arrow keys move, Escape zooms out.
      </p>
      <Suspense fallback={loading}>
        <ChartFrame caption={caption}>
          <FlameGraph label={`Calls of the ${side.replace("_", " ")}`} amounts={amounts} root={stacks.data} />
        </ChartFrame>
      </Suspense>
      <p>
        The cost of a function with several callers is divided among them in proportion to the cost of their
        calls, as gprof does. Small calls count as the caller's own.
        {hasUnnamed(stacks.data) &&
          " All functions without a name of a library are one box, so calls below them may belong to other callers."}
      </p>
      <Files {...{ library, caseId, instrument, side }} ends={[before, after]} />
      <details>
        <summary>Table of {ownerOf(side)} calls</summary>
        <Calls label={`Table of ${ownerOf(side)} calls`} root={stacks.data} />
      </details>
    </>
  );
}

function Files({ library, ends: [before, after], caseId, instrument, side }: CountedSide) {
  const link = (subject: string, format: "callgrind" | "speedscope") => (
    // A service names the file after the version.
    <a
      href={profilePath({ library, subject, case_id: caseId, side, ...askedOf(instrument), format })}
      download={format === "speedscope" ? `${side}.speedscope.json` : `${side}.callgrind`}
    >
      {format}
    </a>
  );
  return (
    <p>
      Download the profile before: {link(before, "callgrind")}, {link(before, "speedscope")}; after:{" "}
      {link(after, "callgrind")}, {link(after, "speedscope")}
    </p>
  );
}

function Calls({ label, root }: { label: string; root: CallNode }) {
  return (
    <Frame label={label}>
      <table className="numbers functions calls">
        <thead>
          <tr>
            <th scope="col">Function</th>
            <th scope="col" className="number">
              Level
            </th>
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
          </tr>
        </thead>
        <tbody>
          {levelsOf(root).map(({ key, level, node }) => (
            <tr key={key} style={{ "--level": level } as CSSProperties}>
              <th scope="row">
                <FunctionName name={node.name} laterName={node.later_name} />
              </th>
              <td className="number">{level}</td>
              <td>{node.library}</td>
              <td className="number">{amount(Math.round(node.before))}</td>
              <td className="number">{amount(Math.round(node.after))}</td>
              <td className="number">{changeOfCount(node.after - node.before)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Frame>
  );
}
