/** The only import of the YAML library. */
export { Composer, CST, Lexer, Pair, Parser, Scalar, YAMLMap, YAMLSeq } from "npm:yaml@^2.9.1";
export { isAlias, isCollection, isMap, isPair, isScalar, isSeq } from "npm:yaml@^2.9.1";
export type { Alias, Document, Node, Tags } from "npm:yaml@^2.9.1";
