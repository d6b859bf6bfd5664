/** Style files: any built-in style with changed fields. */
import { SvcError } from "../contract/error.ts";
import { z } from "../contract/zod.ts";
import { type FigureStyle, STYLE_NAMES, STYLES } from "./style.ts";

const color = z.string().regex(/^#[0-9a-fA-F]{6}$/).describe("colour as #rrggbb");
const size = z.number().positive().max(4000);

const fields = z.strictObject({
  width: size.describe("width of the plot inside its axes"),
  height: size,
  unit: z.enum(["px", "pt"]).describe("unit of all lengths"),
  font: z.string().min(1).describe("font family of the SVG; PNG files always use Inter"),
  font_size: size,
  title_size: z.number().min(0).max(200).describe("size of the title; 0 for none"),
  line_width: size,
  marker_size: size.describe("area of a marker"),
  legend: z.enum(["right", "bottom", "none"]),
  series: z.array(color).min(1),
  baseline: color,
  ink: color,
  muted: color,
  grid: color,
  background: color,
  png_scale: z.number().positive().max(12).describe("pixels per unit of length"),
});

const styleFile = fields.partial().extend({
  name: z.string().min(1).optional(),
  extends: z.enum(STYLE_NAMES).default("svc"),
});

/**
 * A style derived from a built-in one.
 * @param value `{extends?, name?, …}` with the changed fields
 * @throws SvcError `usage_invalid` that names every unusable field
 */
export function styleOf(value: unknown): FigureStyle {
  const parsed = styleFile.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "style"}: ${message}`);
    throw new SvcError("usage_invalid", `Cannot use this figure style: ${problems.join("; ")}`, {
      hint: `Fields: ${["extends", "name", ...Object.keys(fields.shape)].join(", ")}`,
    });
  }
  const { extends: base, ...changes } = parsed.data;
  return { ...STYLES[base], name: "custom", ...changes };
}
