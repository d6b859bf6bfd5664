/** Names of parameters in words, with their units. */

/** Name of the Eb/N0 of a run, which its accounting gives. */
export const EBN0 = "channel.ebn0_db";

/** A parameter that is the Es/N0 of a link. */
export const isSnr = (name: string): boolean => /(^|\.)snr_db$/.test(name);

export const lastPart = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

const ABBREVIATIONS =
  /\b(aic|awgn|crc|csi|esprit|harq|iq|isac|jpeg|ldpc|llr|lmmse|mcs|mdl|mimo|mmse|mrt|music|nr|ofdm|qam|qpsk|rzf|sic|sir|snr|tdl|wmmse|zf)\b/g;

/** A snake_case name in words. */
export const spoken = (name: string): string =>
  name.replaceAll("_", " ").replace(ABBREVIATIONS, (word) => word.toUpperCase());

/** Units that names of parameters end with. */
const SUFFIXES: Readonly<Record<string, string>> = {
  db: "dB",
  deg: "°",
  ghz: "GHz",
  khz: "kHz",
  kmh: "km/h",
  m: "m",
  ns: "ns",
};

/** A parameter as an axis: `link.snr_db` is Es/N0 in dB. */
export function parameterAxis(name: string): { title: string; unit: string } {
  if (name === EBN0) return { title: "Eb/N0", unit: "dB" };
  if (lastPart(name) === "snr_db") return { title: "Es/N0", unit: "dB" };
  const words = lastPart(name).split("_"), unit = words.length > 1 ? SUFFIXES[words.at(-1)!] : undefined;
  const text = spoken((unit === undefined ? words : words.slice(0, -1)).join("_"));
  return { title: text[0].toUpperCase() + text.slice(1), unit: unit ?? "" };
}
