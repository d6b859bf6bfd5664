/** Names the interpreter of Vega expressions; the content security policy does not permit compiling them. */
export { expressionInterpreter } from "npm:vega-interpreter@^2";
