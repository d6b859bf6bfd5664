/** The only import of the YAML library. */
export { Composer, CST, isAlias, isMap, isScalar, isSeq, Lexer, Parser } from "npm:yaml@^2.9.1";
export type { Alias, Document, Node, Scalar, YAMLMap, YAMLSeq } from "npm:yaml@^2.9.1";
