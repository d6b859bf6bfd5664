/** The one place that names the interpreter: expressions of figures are walked, never compiled, as the content policy wants. */
export { expressionInterpreter } from "npm:vega-interpreter@^2";
