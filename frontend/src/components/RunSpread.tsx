// How the jobs of a run are spread over the nodes of a cluster.
import { Link } from "@tanstack/react-router";
import type { NodeShare } from "@/api/generated";
import { amount, count } from "@/format";
import { paths } from "@/paths";
import { Frame } from "@/ui/Frame";

const MOST_NODES_OPEN = 20;

/** Which nodes of a cluster did how much of the run. */
export function SpreadSection({ spread }: { spread: NodeShare[] }) {
  if (spread.length === 0) return null;
  const jobs = spread.reduce((sum, node) => sum + node.jobs, 0);
  const stored = spread.map((node) => node.invocations_stored);
  const [fewest, most] = [Math.min(...stored), Math.max(...stored)];
  return (
    <section>
      <h2>Nodes</h2>
      <p>
        {count(jobs, "job")} on {count(spread.length, "node")}:{" "}
        {fewest === most ? count(most, "invocation") : `${amount(fewest)} to ${count(most, "invocation")}`}{" "}
        stored
        {spread.length > 1 && " of each"}. <Link {...paths.fleet()}>Fleet</Link> names a node that differs
        from its peers.
      </p>
      <details open={spread.length <= MOST_NODES_OPEN}>
        <summary>{count(spread.length, "node")}</summary>
        <Frame label="Nodes of this run">
          <table className="numbers">
            <thead>
              <tr>
                <th scope="col">Node</th>
                <th scope="col">Pool</th>
                <th scope="col">Jobs</th>
                <th scope="col">Invocations stored</th>
                <th scope="col">Lost attempts</th>
              </tr>
            </thead>
            <tbody>
              {spread.map((share) => (
                <tr key={`${share.pool} ${share.node}`}>
                  <th scope="row">{share.node}</th>
                  <td>{share.pool}</td>
                  <td>{amount(share.jobs)}</td>
                  <td>
                    {amount(share.invocations_stored)} of {amount(share.invocations)}
                  </td>
                  <td>{amount(share.lost_attempts)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Frame>
      </details>
    </section>
  );
}
