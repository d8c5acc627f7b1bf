// A place for a wide table: it scrolls inside its frame, never the page, and can be saved as a file.
import { type ReactNode, useRef } from "react";
import { download, fileName } from "./download";
import { csvOf, rowsOf } from "./table-csv";

interface Props {
  label: string;
  children: ReactNode;
  /** stands right below the table */
  note?: ReactNode;
  /** what is saved, if that is not what is read in the table */
  rows?: () => string[][];
}

export function Frame({ label, children, note, rows }: Props) {
  const frame = useRef<HTMLElement>(null);
  const save = () => {
    const table = frame.current?.querySelector("table");
    if (!table) return;
    const text = csvOf(rows ? rows() : rowsOf(table));
    download(fileName(label, "csv"), new Blob([text], { type: "text/csv" }));
  };
  return (
    <>
      <div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
        <section ref={frame} className="frame" aria-label={label} tabIndex={0}>
          {children}
        </section>
        {note}
      </div>
      <p className="save" data-not-drawn="">
        <button type="button" aria-label={`${label}: Save table as CSV`} onClick={save}>
          Save table as CSV
        </button>
      </p>
    </>
  );
}

interface SortProps {
  title: string;
  /** absent: the table is sorted by another column */
  order: "ascending" | "descending" | undefined;
  sort: () => void;
  className?: string | undefined;
}

/** The head of a column that the table can be sorted by. */
export function SortHeader({ title, order, sort, className }: SortProps) {
  return (
    <th scope="col" className={className} aria-sort={order}>
      <button type="button" onClick={sort}>
        {title} <span aria-hidden>{order ? (order === "descending" ? "▼" : "▲") : "↕"}</span>
      </button>
    </th>
  );
}
