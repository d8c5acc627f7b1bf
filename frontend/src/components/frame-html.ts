// The HTML of a frame. Pure.

/** A chart with its title and a short legend. */
const CHART_PX = 420;
/** The title of the frame, which takes three lines on a phone. */
const TITLE_PX = 110;

/** `charts` of them are below each other. */
export function frameHtml(address: string, title: string, charts: number): string {
  const height = TITLE_PX + CHART_PX * charts;
  const attributes = `src="${escaped(address)}" title="${escaped(title)}" width="100%" height="${height}"`;
  return `<iframe ${attributes} loading="lazy" style="border: 0"></iframe>`;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
