// Articles: published figures beside those measured here.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ArticleView } from "@/api/generated";
import { articlesOptions } from "@/api/generated/@tanstack/react-query.gen";
import { HostName } from "@/components/HostName";
import { ReferenceSection } from "@/components/ReferenceSection";
import { FirstLookMark } from "@/components/RunState";
import { dateTime } from "@/format";
import { paths } from "@/paths";
import { Code } from "@/ui/Code";
import { Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

export const firstAnswer = () => articlesOptions();

export function ArticlesPage() {
  const articles = useQuery(firstAnswer());
  useTitle("Articles");
  return (
    <>
      <h1>Published figures, measured again</h1>
      <p>Each of these articles is a spec that runs here. Figures are of the newest finished run.</p>
      {articles.data ? (
        articles.data.articles.map((article) => <Article key={article.name} article={article} />)
      ) : articles.isError ? (
        <Failed error={articles.error} retry={() => void articles.refetch()} />
      ) : (
        <Loading what="the articles" lines={10} />
      )}
    </>
  );
}

function Article({ article: { title, published, question, spec, run } }: { article: ArticleView }) {
  return (
    <article>
      <h2>{title}</h2>
      <p>
        {question} <small>{published}</small>
      </p>
      {run ? (
        <>
          <p>
            Measured <time dateTime={run.measured_at}>{dateTime(run.measured_at)}</time> on{" "}
            <HostName kind={run.host_kind} />: <Link {...paths.run(run.run_id)}>all results of the run</Link>{" "}
            <FirstLookMark run={run} />
          </p>
          {run.reference ? (
            <ReferenceSection reference={run.reference} cases={run.cases} subjects={run.subjects} level={3} />
          ) : (
            <p>docs/results/articles.md has the figures of this article.</p>
          )}
        </>
      ) : (
        <>
          <p>Not measured yet. Measure it with:</p>
          <Code className="command">kexbench run {spec}</Code>
        </>
      )}
    </article>
  );
}
