// Any number of trends in one chart. Up to twelve have bands and words; the table below has the numbers of all.
import { type ReactNode, useCallback, useMemo, useRef, useState } from "react";
import type uPlot from "uplot";
import * as format from "@/format";
import { originText, versionText } from "@/subjects";
import { type Palette, SHAPES } from "./palette";
import {
  type DrawnLine,
  hasLevels,
  markersOf,
  type TrendsModel,
  type TrendsPanel,
  titleOf,
} from "./trends-model";
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
  /** absent: its title */
  heading?: ReactNode;
  /** where its numbers are */
  numbers?: string;
}

export function TrendsChart({ model, panel, yLabel, isLog, choice, heading, numbers = "The table" }: Props) {
  const { title, lines, slots } = panel;
  const markers = useMemo(() => markersOf(model, panel), [model, panel]);
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
        {heading ?? (title && <h3>{title}</h3>)}
        {hasLevels(lines) ? (
          <BuildsKey lines={lines} />
        ) : (
          lines.length <= FEW && (
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
              <JoinsKey lines={lines} mark="◇ and thin dashes before it" />
            </ul>
          )
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
          aria-label={`${titleOf(panel, model)}: ${format.count(lines.length, "trend")}, ${yLabel}. ${numbers} lists the values.`}
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
            {originText(hover.place.subject)}, {hover.place.subject.build_profile_label}
          </div>
        )}
      </div>
    </figure>
  );
}

/** Of one line with every invocation. */
function BuildsKey({ lines }: { lines: DrawnLine[] }) {
  const builds = lines.flatMap((line) => line.builds);
  return (
    <ul>
      {builds.map(({ build_profile_label }, shape) => (
        <li key={build_profile_label}>
          <span style={{ color: `var(--hue-${(lines[0]?.hue ?? 0) % 4})` }} aria-hidden>
            {SHAPES[shape % SHAPES.length]}
          </span>{" "}
          {build_profile_label}
        </li>
      ))}
      <li>Bars and bands: 95% confidence intervals. Small dots: invocations.</li>
      {builds.some(({ change_points }) => change_points.length > 0) && (
        <li>Dotted vertical lines: change points, with the change between the two versions.</li>
      )}
      {builds.some(({ through_sentinel }) => through_sentinel) && (
        <li>Change points are relative to the frozen sentinel. Machine slowdowns are excluded.</li>
      )}
      <JoinsKey lines={lines} mark="Thin dashes" />
    </ul>
  );
}

function JoinsKey({ lines, mark }: { lines: DrawnLine[]; mark: string }) {
  if (lines.every(({ joins }) => joins.length === 0)) return null;
  return <li>{mark}: the build changes with the version, and may cause a part of the difference.</li>;
}

/** The machine's whole description. */
function hostText({ place: { host_kind } }: DrawnLine): string {
  return `${host_kind.pool}: ${host_kind.cpu_model}`;
}
