// The HTML that shows the chart of the trends on another website.
import { useRouter } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { paths } from "@/paths";
import { site } from "@/published";
import type { TrendsSearch } from "@/search";
import { frameHtml } from "./frame-html";

interface Props {
  search: TrendsSearch;
  title: string;
  charts: number;
}

export function EmbedSnippet({ search, title, charts }: Props) {
  const { history, buildLocation } = useRouter();
  const text = useRef<HTMLTextAreaElement>(null);
  const [status, setStatus] = useState("");
  const { publicHref } = buildLocation(paths.embedTrends(search));
  const html = frameHtml(new URL(history.createHref(publicHref), location.href).href, title, charts);
  const copy = async () => {
    text.current?.select();
    try {
      await navigator.clipboard.writeText(html);
      setStatus("Copied.");
    } catch {
      setStatus("The browser does not allow copying. The HTML is selected: copy it with the keyboard.");
    }
  };
  return (
    <details className="snippet">
      <summary>Embed</summary>
      <p>
        Paste this HTML into a page of another website. It shows the chart with these choices and stays
        current.
      </p>
      <textarea ref={text} readOnly rows={4} aria-label="HTML of the frame" value={html} />
      <p>
        <button type="button" onClick={() => void copy()}>
          Copy
        </button>{" "}
        <span role="status">{status}</span>
      </p>
      {!site && (
        <p>
          Browsers refuse the frame until the operator of this service lists the website in{" "}
          <code>KEXBENCH_EMBED_ORIGINS</code>, for example <code>https://wiki.example.org</code>.
        </p>
      )}
    </details>
  );
}
