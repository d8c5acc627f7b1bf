// Any number of trends in one chart. Up to twelve have bands and words; the table below has the numbers of all.
import { useCallback, useMemo, useRef, useState } from "react";
import type uPlot from "uplot";
import * as format from "@/format";
import { versionText } from "@/subjects";
import type { Palette } from "./palette";
import { type DrawnLine, markersOf, type TrendsModel, type TrendsPanel, titleOf } from "./trends-model";
import { DASHES, FEW, type TrendsHover, trendsPlot } from "./trends-plot";
import { usePlot } from "./use-plot";
import { keepZoom, type Zoom, zoomByKey } from "./zoom";

interface Props {
  model: TrendsModel;
  panel: TrendsPanel;
  yLabel: string;
  isLog: boolean;
  /** what the reader chose: new answers to it keep the zoom */
  choice: string;
  /** in a page of its own, without the table */
  isAlone?: boolean;
}

export function TrendsChart({ model, panel, yLabel, isLog, choice, isAlone = false }: Props) {
  const { title, lines, slots } = panel;
  const markers = useMemo(() => markersOf(model, panel), [model, panel]);
  const Heading = isAlone ? "h2" : "h3";
  const [hover, setHover] = useState<TrendsHover>(null);
  const zoom = useRef<Zoom>(undefined);
  const zoomBy = useRef<(key: string) => boolean>(undefined);
  const plotted = useCallback(
    (width: number, palette: Palette) => {
      const shown = { lines, slots, markers, palette, width, yLabel, isLog, hover: setHover };
      const { options, data, whole } = trendsPlot(shown);
      const ready = (plot: uPlot) => {
        zoomBy.current = (key) => zoomByKey(plot, whole, key);
        keepZoom(plot, { choice, whole, slots }, zoom);
      };
      return { options, data, ready };
    },
    [lines, slots, markers, yLabel, isLog, choice],
  );
  const { target, width } = usePlot(plotted);

  return (
    <figure className="trend">
      <figcaption className="key">
        {title && <Heading>{title}</Heading>}
        {lines.length <= FEW && (
          <ul>
            {lines.map((line) => (
              <li key={line.key} title={hostText(line)}>
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
            {lines.some(({ joins }) => joins.length > 0) && (
              <li>
                ◇ and thin dashes before it: the build changes with the version, and may cause a part of the
                difference.
              </li>
            )}
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
          aria-label={`${titleOf(panel, model)}: ${format.count(lines.length, "trend")}, ${yLabel}. ${isAlone ? "The page Trends" : "The table"} lists the values.`}
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
            {format.headline(hover.place.point.value, hover.line.place.metric)},{" "}
            {format.cost(hover.place.point.value, hover.line.place.metric)}
            <br />
            {format.interval(hover.place.point, hover.line.place.metric)}
            <br />
            {hover.place.subject.source}, {hover.place.subject.build_profile_label}
          </div>
        )}
      </div>
    </figure>
  );
}

/** The machine's whole description. */
function hostText({ place: { host_kind } }: DrawnLine): string {
  return `${host_kind.pool}: ${host_kind.cpu_model}`;
}
