/** The path of an operation's module in this folder, from its id: `a.b.v2` is `a/b_v2.ts`. */
export const modulePath = (id: string): string => `./${id.replace(".", "/").replaceAll(".", "_")}.ts`;
