/** Text of others that attacks a reader, each with the form in which it must not arrive. */

/** Controls of terminals, bidirectional controls, invisible characters, and the syntax of each target. */
export const HOSTILE_TEXTS: Readonly<Record<string, string>> = {
  clipboard: "a\u001b]52;c;cm0gLXJm\u0007b",
  colour: "a\u001b[8mhidden\u001b[0m",
  c1: "a\u009b31mb\u0085c",
  carriage: "good\rbad",
  line: "a\nforged line",
  separator: "a\u2028forged line\u2029b",
  bidi: "a\u202eevil\u202c\u2066b\u2069",
  invisible: "a\u200b\u200d\u2060\ufeff\u00adb\u{e0041}",
  latex: "a\n\\input{/etc/passwd}\\write18{id} $x$ 50 % {b}",
  shell: "$(touch x) `id`; 'q' \"r\"",
  html: "<script>alert(1)</script><img src=x onerror='a()'> \"&\"",
  markdown: "a|b [c](javascript:d) ![e](//f) <b> `g` *h* ~~i~~",
  formula: "=cmd|' /C calc'!A0",
  plus: "+1+cmd",
  minus: "-1+cmd",
  at: "@SUM(A1)",
  tab: "\t=cmd",
  return: "\r=cmd",
};

/** Everything that no text may contain. */
export const FORBIDDEN =
  /(?![\n\t])\p{Cc}|[\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;
