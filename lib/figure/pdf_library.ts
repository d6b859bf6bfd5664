/** The only import of the PDF writer and of what draws SVG on it. Import it lazily: with fonts they have 2 MB. */
import PDFDocument from "npm:pdfkit@^0.20.2";
import SVGtoPDF from "npm:svg-to-pdfkit@^0.1.8";

/** What this program uses of the document. */
interface PdfDocument {
  on(event: "data", take: (part: Uint8Array<ArrayBuffer>) => void): void;
  on(event: "end", take: () => void): void;
  registerFont(name: string, bytes: Uint8Array): void;
  end(): void;
}

export const PdfDocument = PDFDocument as unknown as new (options: {
  size: [number, number];
  margin: number;
  info: Record<string, string | Date>;
}) => PdfDocument;

export const drawSvg = SVGtoPDF as unknown as (
  document: PdfDocument,
  svg: string,
  x: number,
  y: number,
  options: {
    width: number;
    height: number;
    assumePt: boolean;
    fontCallback(family: string, bold: boolean): string;
    warningCallback(text: string): void;
  },
) => void;
