/** The one place that names the YAML library. */
export { Composer, CST, isAlias, isMap, isScalar, isSeq, Lexer, parseDocument, Parser } from "npm:yaml@^2.9.1";
export type { Alias, Document, Node, Scalar, YAMLMap, YAMLSeq } from "npm:yaml@^2.9.1";
