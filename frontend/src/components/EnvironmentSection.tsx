// What differs between a run and the run before it of the same spec.
import { Link } from "@tanstack/react-router";
import type { Difference, EnvironmentChanges } from "@/api/generated";
import { dateTime } from "@/format";
import { paths } from "@/paths";
import { Frame } from "@/ui/Frame";

export function EnvironmentSection({ environment }: { environment: EnvironmentChanges | null }) {
  return (
    <section>
      <h2>Environment</h2>
      {environment ? (
        <Differences environment={environment} />
      ) : (
        <p>None of the last runs of this spec before it measured on this pool and CPU model.</p>
      )}
    </section>
  );
}

function Differences({
  environment: { since_run, since, host, kits, measure },
}: {
  environment: EnvironmentChanges;
}) {
  const earlier = (
    <>
      run <Link {...paths.run(since_run)}>{since_run}</Link> of {dateTime(since)}
    </>
  );
  const groups: [string, Difference[]][] = [
    ["Machine", host],
    ...Object.entries(kits),
    ["Measuring", measure],
  ];
  if (groups.every(([, differences]) => differences.length === 0)) {
    return <p>Nothing differs from {earlier}: the same machine, libraries, builds and settings.</p>;
  }
  return (
    <>
      <p>Compared with {earlier}, the previous run of this spec on this pool and CPU model:</p>
      <Frame label="Differences from the previous run">
        <table className="numbers">
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col">Fact</th>
              <th scope="col">Before</th>
              <th scope="col">Now</th>
            </tr>
          </thead>
          <tbody>
            {groups.flatMap(([group, differences]) =>
              differences.map(({ what, before, after }) => (
                <tr key={`${group} ${what}`}>
                  <th scope="row">{group}</th>
                  <td>{what}</td>
                  <td>{before ?? "none"}</td>
                  <td>{after ?? "none"}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </Frame>
    </>
  );
}
