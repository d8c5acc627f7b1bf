// The nodes of a fleet, one a row, with small charts.
import { Link } from "@tanstack/react-router";
import { dateTime, share } from "@/format";
import { paths } from "@/paths";
import type { FleetSort } from "@/search";
import { Frame, SortHeader } from "@/ui/Frame";
import {
  daysText,
  differsText,
  marksOf,
  type PooledNode,
  sentinelText,
  silentText,
  troublesText,
} from "./fleet-model";
import { SetAsideControl } from "./SetAsideControl";

interface Props {
  nodes: PooledNode[];
  sort: FleetSort | undefined;
  sortBy: (sort: FleetSort | undefined) => void;
}

export function FleetTable({ nodes, sort, sortBy }: Props) {
  const header = (title: string, column?: FleetSort, order: "ascending" | "descending" = "ascending") => (
    <SortHeader title={title} order={sort === column ? order : undefined} sort={() => sortBy(column)} />
  );
  return (
    <Frame label="Nodes">
      <table className="numbers history fleet">
        <thead>
          <tr>
            {header("Node", "name")}
            {header("Findings")}
            {header("Sentinel", "cost", "descending")}
            <th scope="col">Detectable change</th>
            {header("Last seen", "seen")}
            {header("Jobs", "jobs", "descending")}
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <Row key={`${node.pool} ${node.node}`} node={node} />
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

function Row({ node }: { node: PooledNode }) {
  const { pool, host, host_kind, last_seen } = node;
  return (
    <tr>
      <th scope="row">
        {node.node}
        <small className="below">
          <Link {...paths.machine({ pool, cpu: host_kind })}>Pool {pool}</Link>
        </small>
        <small className="below" title={host_kind}>
          {host.cpu_model}, {host.cpus} CPUs
        </small>
      </th>
      <td>
        <Findings node={node} />
        <SetAsideControl node={node} />
      </td>
      <td>
        <SentinelChart node={node} />
      </td>
      <td>{node.smallest_detectable_change === null ? "unknown" : share(node.smallest_detectable_change)}</td>
      <td>
        {dateTime(last_seen)}
        <DaysChart node={node} />
      </td>
      <td>{node.jobs.toLocaleString("en-US")}</td>
    </tr>
  );
}

function Findings({ node }: { node: PooledNode }) {
  const { set_aside: aside, findings } = node;
  const [differs, silent, troubles] = [differsText(node), silentText(node), troublesText(node)];
  const warnings = findings.filter(({ verdict }) => verdict === "warning");
  const unknown = findings.filter(({ verdict }) => verdict === "unknown");
  if (!differs && !silent && !troubles && !aside && warnings.length === 0) {
    return <>None{unknown.length > 0 && <Unknown names={unknown.map(({ name }) => name)} />}</>;
  }
  return (
    <ul className="plain">
      {differs && (
        <li className="bad">
          <b>{differs}</b>
        </li>
      )}
      {silent && (
        <li className="bad">
          <b>{silent}</b>
        </li>
      )}
      {troubles && <li>Jobs in these days: {troubles}</li>}
      {aside?.since && (
        <li>
          <b>Set aside</b> since {dateTime(aside.since)} by {aside.by}: {aside.reason}
        </li>
      )}
      {warnings.map(({ name, found }) => (
        <li key={name}>
          {name}: {found}
        </li>
      ))}
      {unknown.length > 0 && (
        <li>
          <Unknown names={unknown.map(({ name }) => name)} />
        </li>
      )}
    </ul>
  );
}

function Unknown({ names }: { names: string[] }) {
  return <small className="below">Unknown: {names.join(", ")}</small>;
}

const CHART = { width: 130, height: 36, pad: 4 };
const across = (x: number) => CHART.pad + x * (CHART.width - 2 * CHART.pad);
const down = (y: number) => CHART.height - CHART.pad - y * (CHART.height - 2 * CHART.pad);

/** One dot a run with its interval, around the median of the pool. */
function SentinelChart({ node }: { node: PooledNode }) {
  const marks = marksOf(node);
  if (marks.length === 0) return <>not measured</>;
  return (
    <svg
      className={node.differs ? "sparkline differs" : "sparkline"}
      width={CHART.width}
      height={CHART.height}
      role="img"
      aria-label={`Sentinel: ${sentinelText(node)}`}
    >
      <line className="median" x1={0} x2={CHART.width} y1={down(0.5)} y2={down(0.5)} />
      {marks.map(({ run_id, x, y, low, high }) => (
        <g key={run_id}>
          <line x1={across(x)} x2={across(x)} y1={down(low)} y2={down(high)} />
          <circle cx={across(x)} cy={down(y)} r={2} />
        </g>
      ))}
    </svg>
  );
}

function DaysChart({ node }: { node: PooledNode }) {
  const most = Math.max(1, ...node.days);
  const step = (CHART.width - 2 * CHART.pad) / node.days.length;
  return (
    <svg
      className="days-chart"
      width={CHART.width}
      height={CHART.height}
      role="img"
      aria-label={daysText(node)}
    >
      {node.days.map((times, index) => {
        const height = (times / most) * (CHART.height - 2 * CHART.pad);
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a day is its place
            key={index}
            x={CHART.pad + index * step}
            y={CHART.height - CHART.pad - Math.max(height, 1)}
            width={step - 2}
            height={Math.max(height, 1)}
          />
        );
      })}
    </svg>
  );
}
