/**
 * Figures that the page draws itself, in forms that only the program writes. By hand: a service for the page; `plot` of runs and
 * results writes the PDF of a figure.
 */
import { z } from "../../contract/zod.ts";
import { Answer, post } from "../route.ts";
import { refusals } from "../schemas.ts";

export const figureRoutes = [
  post("/api/figures/pdf", "An SVG figure of the page as PDF with embedded fonts", {
    description: "Only shapes and texts are accepted: an SVG with images, references or scripts is refused.",
    writes: false,
    body: z.strictObject({ svg: z.string().max(4_000_000) }),
    replies: { 200: { description: "One page of the size of the figure", media: "application/pdf" }, ...refusals(400) },
    async thread({ body: { svg } }) {
      const { pdfOfForeign } = await import("../../figure/pdf.ts");
      return new Answer(new Uint8Array(await pdfOfForeign(svg)), { headers: { "content-type": "application/pdf" } });
    },
  }),
] as const;
