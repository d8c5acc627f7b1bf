// Files that the pages make themselves.

export function download(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  link.click();
  URL.revokeObjectURL(address);
}

export function fileName(label: string, ending: string): string {
  return `${label
    .replace(/[^\w.+-]+/g, "-")
    .replace(/^-|-$/g, "")
    .toLowerCase()}.${ending}`;
}
