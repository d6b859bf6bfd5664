/** Images of the server as pixels. */
import { blobUrl } from "../state/files.ts";

/** The pixels of an image. @throws Problem */
export async function readPixels(address: string, signal: AbortSignal): Promise<ImageData> {
  const url = await blobUrl(address, signal);
  try {
    const picture = new Image();
    picture.src = url;
    await picture.decode();
    const canvas = new OffscreenCanvas(picture.naturalWidth, picture.naturalHeight);
    const context = canvas.getContext("2d", { willReadFrequently: true })!;
    context.drawImage(picture, 0, 0);
    return context.getImageData(0, 0, canvas.width, canvas.height);
  } finally {
    URL.revokeObjectURL(url);
  }
}
