/**
 * Fetches the scripts of the first view beside those of the frame, which name the view's script only once they run. Runs as a
 * script of its own, whose element lists the scripts of each view.
 */
{
  const { dataset, src } = document.currentScript as HTMLScriptElement;
  for (const name of dataset[/\w+/.exec(location.hash)?.[0] ?? "start"]?.split(" ") ?? []) {
    document.head.append(
      Object.assign(document.createElement("link"), { rel: "modulepreload", href: new URL(name, src).href }),
    );
  }
}
