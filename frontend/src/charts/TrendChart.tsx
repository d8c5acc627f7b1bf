// The trend over the versions of a library, with 95% confidence intervals, the median of every invocation and the change points.
import { useCallback, useMemo, useState } from "react";
import type { Series } from "@/api/generated";
import * as format from "@/format";
import { commitText, versionText } from "@/subjects";
import { changePointText } from "./change-points";
import { type Palette, SHAPES } from "./palette";
import { type PlotLine, type SeriesModel, seriesModel } from "./series-model";
import { type Hover, trendPlot } from "./trend-plot";
import { usePlot } from "./use-plot";

interface Props {
  library: string;
  /** of this library alone */
  series: Series;
  show: format.Show;
}

export function TrendChart({ library, series, show }: Props) {
  const [hover, setHover] = useState<Hover>(null);
  const model = useMemo(() => seriesModel(series, show), [series, show]);
  const yLabel = axisTitle(series, show);
  const plotted = useCallback(
    (width: number, palette: Palette) =>
      trendPlot({
        model,
        palette,
        width,
        yLabel,
        stepText: (change) => changePointText(change, series.metric),
        hover: setHover,
      }),
    [model, yLabel, series.metric],
  );
  const { target, width } = usePlot(plotted);

  return (
    <figure className="trend">
      <Key model={model} />
      <div className="plot">
        <div
          ref={target}
          role="img"
          aria-label={`${series.case.title}, ${library}: ${yLabel} by version. The table lists the values.`}
        />
        {hover && (
          <div
            className="tip"
            aria-hidden
            style={{ left: hover.left, top: hover.top }}
            data-side={hover.left > width / 2 ? "left" : "right"}
          >
            <b>
              {library} {versionText(hover.point.point)}
            </b>{" "}
            {hover.line.label}
            {hover.point.point.commit && (
              <>
                <br />
                {commitText(hover.point.point.commit)}
              </>
            )}
            <br />
            {format.headline(hover.point.point.estimate.value, series.metric)},{" "}
            {format.cost(hover.point.point.estimate.value, series.metric)}
            <br />
            {format.interval(hover.point.point.estimate, series.metric)}
          </div>
        )}
      </div>
    </figure>
  );
}

function Key({ model }: { model: SeriesModel }) {
  return (
    <figcaption className="key">
      <ul>
        {model.lines.map((line) => (
          <li key={line.label}>
            <span style={{ color: "var(--hue-0)" }} aria-hidden>
              {shapeOf(line)}
            </span>{" "}
            {line.label}
          </li>
        ))}
        <li>Bars and bands: 95% confidence intervals. Small dots: invocations.</li>
        {model.steps.length > 0 && (
          <li>Dotted vertical lines: change points, with the change between the two versions.</li>
        )}
        {model.throughSentinel && (
          <li>Change points are relative to the frozen sentinel. Machine slowdowns are excluded.</li>
        )}
        {model.connectors.length > 0 && (
          <li>
            Dashed lines: the build changes with the version. The build may cause part of the difference.
          </li>
        )}
      </ul>
    </figcaption>
  );
}

function shapeOf(line: PlotLine): string {
  return SHAPES[line.shape % SHAPES.length] ?? "●";
}

function axisTitle(series: Series, show: format.Show): string {
  if (format.unitOf(series.metric) !== "ns") return `${format.nounOf(series.metric)} (lower is better)`;
  return show === "rate" ? "handshakes per second (higher is better)" : "µs per handshake (lower is better)";
}
