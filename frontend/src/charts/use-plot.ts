// A chart on a canvas that fills its place: drawn again when its width, its content or the colour scheme changes.
import { type RefObject, useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { redraws } from "@/picture/redraws";
import { type Palette, readPalette, useScheme } from "./palette";

export interface Plotted {
  options: uPlot.Options;
  data: uPlot.AlignedData;
  /** called with the drawn chart */
  ready?: (plot: uPlot) => void;
}

export function useWidth(): { target: RefObject<HTMLDivElement | null>; width: number } {
  const target = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!target.current) return;
    const watcher = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    watcher.observe(target.current);
    return () => watcher.disconnect();
  }, []);
  return { target, width };
}

/** `plotted` must stay the same function as long as its content does. */
export function usePlot(plotted: (width: number, palette: Palette) => Plotted) {
  const { target, width } = useWidth();
  const scheme = useScheme();
  useEffect(() => {
    if (!target.current || width === 0) return;
    const { options, data, ready } = plotted(width, readPalette(scheme));
    const plot = new uPlot(options, data, target.current);
    ready?.(plot);
    redraws.set(plot.ctx.canvas, () => plot.batch(() => plot.redraw()));
    return () => plot.destroy();
  }, [plotted, scheme, target, width]);
  return { target, width };
}
