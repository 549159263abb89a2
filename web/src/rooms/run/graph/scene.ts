// What stands on the canvas of a large run, and how it is painted: arrows always, tasks where they are too small to be
// read as boxes of their own. A thousand boxes of a page cannot be moved at once; a thousand rectangles can.

import type { Task } from '../../../run/state';
import { statusTone } from '../../../ui/Status';
import type { Point } from '../../../ui/point';
import { NODE_HEIGHT, NODE_WIDTH } from './layout';
import { CORNER } from './route';

/** The zoom below which tasks are painted. */
export const DETAIL_ZOOM = 0.6;
/** The zoom below which a name could not be read. */
const NAMES_ZOOM = 0.16;
/** The size of names on the screen, and on the canvas at most. */
const NAME_PX = 11;
const NAME_MAX_PX = 36;
const INSET_PX = 14;
const EDGE_PX = 10;
const ARROW_PX = 7;

export interface Arrow {
  corners: Point[];
  isDashed: boolean;
  isFlowing: boolean;
}

export interface Scene {
  tasks: readonly Task[];
  places: ReadonlyMap<number, Point>;
  arrows: readonly Arrow[];
  chosen: number;
}

export interface View extends Point {
  zoom: number;
  width: number;
  height: number;
}

export interface Rectangle extends Point {
  width: number;
  height: number;
}

/** The colour of a name in the style sheet. */
export type Colour = (name: string) => string;

const SIZE = { width: NODE_WIDTH, height: NODE_HEIGHT };

/** The rectangle around all tasks. */
export function boundsOf(places: ReadonlyMap<unknown, Point>): Rectangle {
  const all = [...places.values()];
  const [x, y] = [Math.min(...all.map((place) => place.x)), Math.min(...all.map((place) => place.y))];
  const [right, bottom] = [Math.max(...all.map((place) => place.x)), Math.max(...all.map((place) => place.y))];
  return all.length === 0
    ? { x: 0, y: 0, ...SIZE }
    : { x, y, width: right - x + SIZE.width, height: bottom - y + SIZE.height };
}

/** The task at a point of the canvas. */
export function taskAt({ tasks, places }: Scene, { x, y }: Point): Task | undefined {
  return tasks.find(({ index }) => {
    const place = places.get(index);
    return place && x >= place.x && x <= place.x + NODE_WIDTH && y >= place.y && y <= place.y + NODE_HEIGHT;
  });
}

type Pen = CanvasRenderingContext2D;

/** The part of the canvas that is seen. */
const seen = ({ x, y, zoom, width, height }: View): Rectangle => ({
  x: -x / zoom,
  y: -y / zoom,
  width: width / zoom,
  height: height / zoom,
});

export const isWithin = ({ x, y }: Point, part: Rectangle): boolean =>
  x < part.x + part.width && x + NODE_WIDTH > part.x && y < part.y + part.height && y + NODE_HEIGHT > part.y;

export function paint(pen: Pen, scene: Scene, view: View, colour: Colour): void {
  const part = seen(view);
  for (const arrow of scene.arrows) paintArrow(pen, arrow, { zoom: view.zoom, part, colour });
  if (view.zoom >= DETAIL_ZOOM) return;
  for (const task of scene.tasks) {
    const place = scene.places.get(task.index);
    if (place && isWithin(place, part))
      paintTask(pen, task, { place, zoom: view.zoom, colour, isChosen: task.index === scene.chosen });
  }
}

interface Detail {
  place: Point;
  zoom: number;
  colour: Colour;
  isChosen: boolean;
}

function paintTask(pen: Pen, task: Task, { place: { x, y }, zoom, colour, isChosen }: Detail): void {
  const tone = statusTone(task.status);
  pen.fillStyle = colour(`${tone}-soft`);
  pen.fillRect(x, y, NODE_WIDTH, NODE_HEIGHT);
  pen.fillStyle = colour(tone);
  pen.fillRect(x, y, EDGE_PX, NODE_HEIGHT);
  pen.lineWidth = (isChosen ? 3 : 1) / zoom;
  pen.strokeStyle = isChosen ? colour('accent') : colour(tone);
  pen.strokeRect(x, y, NODE_WIDTH, NODE_HEIGHT);
  if (zoom < NAMES_ZOOM) return;
  const size = Math.min(NAME_MAX_PX, NAME_PX / zoom);
  pen.font = `600 ${size}px 'Inter Variable', system-ui, sans-serif`;
  pen.textBaseline = 'middle';
  pen.fillStyle = colour('ink');
  pen.fillText(
    fitting(task.name, (NODE_WIDTH - EDGE_PX - 2 * INSET_PX) / size),
    x + EDGE_PX + INSET_PX,
    y + NODE_HEIGHT / 2,
  );
}

/** As much of a name as fits; measuring every name would take longer than painting it. */
function fitting(name: string, ems: number): string {
  const characters = Math.floor(ems / 0.56);
  return name.length <= characters ? name : `${name.slice(0, Math.max(1, characters - 1))}…`;
}

interface Line {
  zoom: number;
  part: Rectangle;
  colour: Colour;
}

function paintArrow(pen: Pen, { corners, isDashed, isFlowing }: Arrow, { zoom, part, colour }: Line): void {
  const [first] = corners;
  const [before, last] = corners.slice(-2);
  if (!first || !before || !last || !isSeen(corners, part)) return;
  const thin = Math.max(1.5, 1 / zoom);
  pen.strokeStyle = colour(isFlowing ? 'running' : 'ink-muted');
  pen.fillStyle = pen.strokeStyle;
  pen.globalAlpha = isFlowing ? 1 : 0.6;
  pen.lineWidth = thin;
  pen.setLineDash(isDashed ? [4 * thin, 4 * thin] : []);
  pen.beginPath();
  pen.moveTo(first.x, first.y);
  for (const [at, corner] of corners.slice(1, -1).entries()) {
    const next = corners[at + 2] ?? last;
    pen.arcTo(corner.x, corner.y, next.x, next.y, CORNER);
  }
  pen.lineTo(last.x, last.y);
  pen.stroke();
  pen.setLineDash([]);
  paintHead(pen, before, last, Math.max(ARROW_PX, 4 / zoom));
  pen.globalAlpha = 1;
}

function paintHead(pen: Pen, before: Point, { x, y }: Point, size: number): void {
  const [along, across] = [Math.sign(x - before.x) * size, Math.sign(y - before.y) * size];
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x - along - across / 2, y - across - along / 2);
  pen.lineTo(x - along + across / 2, y - across + along / 2);
  pen.fill();
}

const isSeen = (corners: readonly Point[], { x, y, width, height }: Rectangle): boolean =>
  corners.some((corner) => corner.x >= x) &&
  corners.some((corner) => corner.x <= x + width) &&
  corners.some((corner) => corner.y >= y) &&
  corners.some((corner) => corner.y <= y + height);

/** The whole run in a small picture, with the part that is seen. */
export function paintSmall(pen: Pen, scene: Scene, view: View, { bounds, scale, colour }: Small): void {
  for (const task of scene.tasks) {
    const place = scene.places.get(task.index);
    if (!place) continue;
    pen.fillStyle = colour(statusTone(task.status));
    pen.fillRect((place.x - bounds.x) * scale, (place.y - bounds.y) * scale, NODE_WIDTH * scale, NODE_HEIGHT * scale);
  }
  const part = seen(view);
  pen.lineWidth = 1.5;
  pen.strokeStyle = colour('accent');
  pen.strokeRect((part.x - bounds.x) * scale, (part.y - bounds.y) * scale, part.width * scale, part.height * scale);
}

export interface Small {
  bounds: Rectangle;
  scale: number;
  colour: Colour;
}
