/** Images as received at each value of a swept parameter, which were stored in one file from left to right. */

/** The address of an image in `ui/pictures`. */
export const pictureAt = (name: string): string => new URL(`./${name}.jpg`, import.meta.url).href;

interface Props {
  src: string;
  /** Of the file in pixels. */
  size: readonly [width: number, height: number];
  alt: string;
  /** Texts below the images. */
  values: readonly string[];
}

export function Film({ src, size: [width, height], alt, values }: Props) {
  return (
    <figure class="film" style={{ maxWidth: `${width * 1.5}px` }}>
      <span class="film-frames" style={{ "--frames": values.length || 1 }}>
        <img src={src} width={width} height={height} alt={alt} loading="lazy" />
      </span>
      {values.length > 0 && (
        <figcaption class="small muted">
          {values.map((value) => <span key={value}>{value}</span>)}
        </figcaption>
      )}
    </figure>
  );
}
