// The HTML of a frame. Pure.

/** A chart with its legend and title. */
const HEIGHT_PX = 480;

export function frameHtml(address: string, title: string): string {
  const attributes = `src="${escaped(address)}" title="${escaped(title)}" width="100%" height="${HEIGHT_PX}"`;
  return `<iframe ${attributes} loading="lazy" style="border: 0"></iframe>`;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
