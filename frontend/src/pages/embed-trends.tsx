// The chart of the trends alone, for a frame in another website.
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { TrendsChart } from "@/charts/TrendsChart";
import { type TrendsModel, trendsModel } from "@/charts/trends-model";
import { axisTitle } from "@/components/trends-words";
import { useTrends } from "@/components/use-trends";
import { paths } from "@/paths";
import { stringifySearch, type TrendsSearch } from "@/search";
import { Empty, Failed, Loading } from "@/ui/Notes";
import { useTitle } from "@/ui/title";

const route = getRouteApi("/embed/trends");
/** A frame may stay open for days, in many windows. */
const AGAIN_MS = 5 * 60_000;

export function EmbedTrendsPage() {
  const search = route.useSearch();
  const { trends } = useTrends(search, AGAIN_MS);
  const model = useMemo(() => trends.data && trendsModel(trends.data, search), [trends.data, search]);
  const title = model?.title || "Trends";
  useTitle(title);
  return (
    <main className="embed">
      <div className="embed-title">
        <h1>{title}</h1>
        <Link {...paths.trends(search)} target="_blank">
          kexbench<span className="visually-hidden">: this chart with its numbers, in a new tab</span>
        </Link>
      </div>
      {model ? (
        <Charts model={model} search={search} />
      ) : trends.isError ? (
        <Failed error={trends.error} retry={() => void trends.refetch()} />
      ) : (
        <Loading what="the trends" lines={8} />
      )}
    </main>
  );
}

function Charts({ model, search }: { model: TrendsModel; search: TrendsSearch }) {
  if (model.lines.length === 0) {
    return (
      <Empty title="No series">
        <p>Nothing was measured for this choice.</p>
      </Empty>
    );
  }
  const yLabel = axisTitle(search);
  const choice = stringifySearch({ ...search });
  return (
    <div className={model.panels.length > 1 ? "panels" : undefined}>
      {model.panels.map((panel) => (
        <TrendsChart
          key={panel.title}
          {...{ model, panel, yLabel, choice }}
          isLog={search.scale === "log"}
          heading={panel.title && <h2>{panel.title}</h2>}
          numbers="The page Trends"
        />
      ))}
    </div>
  );
}
