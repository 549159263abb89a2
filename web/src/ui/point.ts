/** A place on a canvas, in pixels. */
export interface Point {
  x: number;
  y: number;
}
