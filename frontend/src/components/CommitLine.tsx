// The commit that a run measures, in a line.
import { Link } from "@tanstack/react-router";
import type { Commit, RunSummary } from "@/api/generated";
import { paths } from "@/paths";
import { originInWords, shortHash, titleOf } from "./commit-words";

export function CommitHash({ commit }: { commit: Commit }) {
  return <code title={commit.commit}>{shortHash(commit)}</code>;
}

/** On a run's own page. */
export function CommitLine({ summary: { commit, spec_path } }: { summary: RunSummary }) {
  if (!commit) return null;
  return (
    <p className="said">
      <Link {...paths.commits({ repository: commit.repository })}>
        Commit <CommitHash commit={commit} />
      </Link>{" "}
      {originInWords(commit)}: {titleOf(commit)} <small>Spec {spec_path}</small>
    </p>
  );
}
