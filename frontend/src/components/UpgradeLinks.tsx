// The upgrades that a run measured, each with its report.
import { Link } from "@tanstack/react-router";
import type { RunDetail } from "@/api/generated";
import { priorsOf } from "@/charts/heatmap-model";
import { paths } from "@/paths";
import { stepTitle } from "./compared-ends";

export function UpgradeLinks({ run }: { run: RunDetail }) {
  const priors = priorsOf(run);
  const upgrades = run.subjects.flatMap((subject) => {
    const prior = priors.get(subject.name);
    return prior ? [{ subject, prior }] : [];
  });
  if (upgrades.length === 0) return null;
  return (
    <section>
      <h2>Upgrades in this run</h2>
      <ul className="plain">
        {upgrades.map(({ subject, prior }) => (
          <li key={subject.name}>
            <Link {...paths.upgrade(subject.library, prior.name, subject.name)}>
              {stepTitle(prior, subject)}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
