/** Files that the browser saves. */
import { addressOf, askBytes, send } from "../api.ts";

function saveAs(url: string, name: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export const saveText = (content: string, name: string, type = "text/plain"): void =>
  saveAs(URL.createObjectURL(new Blob([content], { type })), name);

export const artifactAddress = (path: string) => addressOf("/api/artifact", { query: { path, download: 1 } });
export const imageAddress = (path: string, index: number) => addressOf("/api/image", { query: { path, index } });

/** Bytes of the server as an address; revoke it when it is no longer shown. @throws Problem */
export const blobUrl = async (address: string, signal?: AbortSignal): Promise<string> =>
  URL.createObjectURL(await (await send(address, { signal })).blob());

/** Saves an artifact file. @throws Problem */
export const saveArtifact = async (path: string): Promise<void> =>
  saveAs(await blobUrl(artifactAddress(path)), path.split("/").slice(-2).join("_"));

const PNG_SCALE = 3;

/** Saves a drawing as PDF, which the server writes. @throws Problem */
export const savePdf = async (svg: string, name: string): Promise<void> =>
  saveAs(URL.createObjectURL(await askBytes("/api/figures/pdf", { svg })), `${name}.pdf`);

/** The fonts of figures, with the letters of the second one. */
const FONTS = [["inter.woff2", ""], ["inter_greek.woff2", "unicode-range: U+0370-03FF;"]] as const;
let faces: Promise<string> | undefined;

/** The rules of the fonts with their files inside: a picture of the browser sees no font of the page. */
async function fontFaces(): Promise<string> {
  const rules = await Promise.all(FONTS.map(async ([file, range]) => {
    const reply = await send(new URL(file, import.meta.url).pathname);
    const bytes = new Uint8Array(await reply.arrayBuffer());
    const source = `data:font/woff2;base64,${bytes.toBase64()}`;
    return `@font-face{font-family:"Inter";font-weight:100 900;src:url("${source}") format("woff2");${range}}`;
  }));
  return `<style>${rules.join("")}</style>`;
}

/** A drawing that has its fonts inside. @throws Problem */
async function withFonts(svg: string): Promise<string> {
  faces ??= fontFaces().catch((error) => {
    faces = undefined;
    throw error;
  });
  const rules = await faces;
  return svg.replace(/<svg[^>]*>/, (head) => head + rules);
}

/** Saves a drawing as PNG, in the fonts of the page. @throws Problem */
export async function savePng(svg: string, name: string): Promise<void> {
  const url = URL.createObjectURL(new Blob([await withFonts(svg)], { type: "image/svg+xml" }));
  try {
    const picture = new Image();
    picture.src = url;
    await picture.decode();
    const canvas = new OffscreenCanvas(picture.naturalWidth * PNG_SCALE, picture.naturalHeight * PNG_SCALE);
    canvas.getContext("2d")!.drawImage(picture, 0, 0, canvas.width, canvas.height);
    saveAs(URL.createObjectURL(await canvas.convertToBlob({ type: "image/png" })), `${name}.png`);
  } finally {
    URL.revokeObjectURL(url);
  }
}
