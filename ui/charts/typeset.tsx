/** Texts with the ratios Es/N0 and Eb/N0 in subscripts, as in the figures. */
import { type ComponentChildren, Fragment } from "../preact.ts";

const RATIO = /E([sb])\/N0/;

export const typeset = (text: string): ComponentChildren =>
  text.split(RATIO).map((part, at) => (
    <Fragment key={at}>
      {at % 2 === 0 ? part : (
        <>
          E<sub>{part}</sub>/N<sub>0</sub>
        </>
      )}
    </Fragment>
  ));

/** Inside a text of a drawing, where not all browsers shift baselines. */
export const typesetDrawn = (text: string): ComponentChildren =>
  text.split(RATIO).map((part, at) =>
    at % 2 === 0 ? <tspan key={at} dy={at === 0 ? 0 : -DROP}>{part}</tspan> : (
      <Fragment key={at}>
        E<Lowered>{part}</Lowered>
        <tspan dy={-DROP}>/N</tspan>
        <Lowered>0</Lowered>
      </Fragment>
    )
  );

const DROP = 2.5;
const Lowered = ({ children }: { children: ComponentChildren }) => <tspan dy={DROP} font-size="75%">{children}</tspan>;
