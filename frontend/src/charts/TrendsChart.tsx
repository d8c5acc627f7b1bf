// Any number of trends in one chart. Up to twelve have bands and words; the table below has the numbers of all.
import { useCallback, useRef, useState } from "react";
import type uPlot from "uplot";
import * as format from "@/format";
import { versionText } from "@/subjects";
import type { Palette } from "./palette";
import type { TrendsModel, TrendsPanel } from "./trends-model";
import { DASHES, FEW, type TrendsHover, trendsPlot } from "./trends-plot";
import { usePlot } from "./use-plot";
import { zoomByKey } from "./zoom";

interface Props {
  panel: TrendsPanel;
  slots: TrendsModel["slots"];
  markers: TrendsModel["markers"];
  yLabel: string;
  isLog: boolean;
}

export function TrendsChart({ panel: { title, lines }, slots, markers, yLabel, isLog }: Props) {
  const [hover, setHover] = useState<TrendsHover>(null);
  const zoomBy = useRef<(key: string) => boolean>(undefined);
  const plotted = useCallback(
    (width: number, palette: Palette) => {
      const shown = { lines, slots, markers, palette, width, yLabel, isLog, hover: setHover };
      const { options, data, whole } = trendsPlot(shown);
      const ready = (plot: uPlot) => {
        zoomBy.current = (key) => zoomByKey(plot, whole, key);
      };
      return { options, data, ready };
    },
    [lines, slots, markers, yLabel, isLog],
  );
  const { target, width } = usePlot(plotted);

  return (
    <figure className="trend">
      <figcaption className="key">
        {title && <h3>{title}</h3>}
        {lines.length <= FEW && (
          <ul>
            {lines.map((line) => (
              <li key={line.key}>
                <svg width="28" height="8" aria-hidden="true">
                  <line
                    x1="0"
                    x2="28"
                    y1="4"
                    y2="4"
                    stroke={`var(--hue-${line.hue % 4})`}
                    strokeWidth="2"
                    strokeDasharray={(DASHES[line.dash % DASHES.length] ?? []).join(" ")}
                  />
                </svg>{" "}
                {line.shortLabel}
              </li>
            ))}
          </ul>
        )}
      </figcaption>
      <div className="plot">
        <div
          ref={target}
          role="img"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: keys zoom it
          tabIndex={0}
          onKeyDown={(event) => {
            const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
            if (isPlain && zoomBy.current?.(event.key)) event.preventDefault();
          }}
          aria-label={`${title || `${lines.length} trends`}: ${yLabel}. The table lists the values.`}
        />
        {hover && (
          <div
            className="tip"
            aria-hidden
            style={{ left: hover.left, top: hover.top }}
            data-side={hover.left > width / 2 ? "left" : "right"}
          >
            <b>{versionText(hover.place.subject)}</b> {hover.line.label}
            <br />
            {format.headline(hover.place.point.value, hover.line.trend.metric)},{" "}
            {format.cost(hover.place.point.value, hover.line.trend.metric)}
            <br />
            {format.interval(hover.place.point, hover.line.trend.metric)}
          </div>
        )}
      </div>
    </figure>
  );
}
