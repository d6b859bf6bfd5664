/** Names and sizes of the modulations of TS 38.211, without their arithmetic: the page reads them too. */

export const MODULATIONS = ["bpsk", "qpsk", "qam16", "qam64", "qam256"] as const;
export type Modulation = typeof MODULATIONS[number];

export const BITS_PER_SYMBOL: Readonly<Record<Modulation, number>> = {
  bpsk: 1,
  qpsk: 2,
  qam16: 4,
  qam64: 6,
  qam256: 8,
};

/** The modulation that carries a number of bits. */
export const MODULATION_BY_BITS: Readonly<Record<number, Modulation>> = Object.fromEntries(
  MODULATIONS.map((modulation) => [BITS_PER_SYMBOL[modulation], modulation]),
);
