/** Hands a text or blob to the person, as a file. */
export function download(name: string, contents: string | Blob, type = "text/plain"): void {
  const url = URL.createObjectURL(typeof contents === "string" ? new Blob([contents], { type }) : contents);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
