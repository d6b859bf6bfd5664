/** Texts with the ratios Es/N0 and Eb/N0 in subscripts, as in the figures. */
import { type ComponentChildren, Fragment } from "../preact.ts";

export const typeset = (text: string): ComponentChildren =>
  text.split(/E([sb])\/N0/).map((part, at) => (
    <Fragment key={at}>
      {at % 2 === 0 ? part : (
        <>
          E<sub>{part}</sub>/N<sub>0</sub>
        </>
      )}
    </Fragment>
  ));
