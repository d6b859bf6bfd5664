/** The one place that names the command-line library. */
export { Argument, Command, CommanderError, InvalidArgumentError, Option } from "npm:commander@^15.1.0";
