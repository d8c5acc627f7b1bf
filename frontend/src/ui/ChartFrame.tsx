// A place for a chart, with its legend: it can be saved as a picture. What makes pictures is loaded when it is needed.
import { type ReactNode, useRef, useState } from "react";
import type { Caption } from "@/picture/picture";
import { download, fileName } from "./download";

interface Props {
  /** stands above the chart in its picture */
  caption: Caption;
  children: ReactNode;
}

export function ChartFrame({ caption, children }: Props) {
  const chart = useRef<HTMLDivElement>(null);
  const [trouble, setTrouble] = useState("");
  const save = async (ending: "svg" | "png") => {
    if (!chart.current) return;
    try {
      const { svgOf, pngOf } = await import("@/picture/picture");
      const svg = svgOf(chart.current, caption);
      const content = ending === "svg" ? new Blob([svg], { type: "image/svg+xml" }) : await pngOf(svg);
      download(fileName(caption.title, ending), content);
      setTrouble("");
    } catch (error) {
      setTrouble(`The picture could not be made: ${error instanceof Error ? error.message : error}`);
    }
  };
  return (
    <div>
      <div ref={chart}>{children}</div>
      <p className="save">
        {(["svg", "png"] as const).map((ending) => (
          <button
            key={ending}
            type="button"
            aria-label={`${caption.title}: Download ${ending.toUpperCase()}`}
            onClick={() => void save(ending)}
          >
            Download {ending.toUpperCase()}
          </button>
        ))}
        {trouble && <span role="alert"> {trouble}</span>}
      </p>
    </div>
  );
}
