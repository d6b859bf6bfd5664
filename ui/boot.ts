/**
 * Fetches the scripts of the first view beside those of the frame, which name the view's script only once they run. The element
 * of this script lists the scripts of each view.
 */
const { dataset } = document.querySelector<HTMLElement>("script[async]")!;
for (const name of dataset[/\w+/.exec(location.hash)?.[0] ?? "start"]?.split(" ") ?? []) {
  const href = new URL(name, import.meta.url).href;
  document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", href }));
}
