// The frames of one stream, collected and applied in batches: a page is drawn again for many frames at once.

import type { Problem } from './client';
import { follow } from './sse';

/** The time in which frames are collected before they are applied. */
const BATCH_MS = 40;
/** Frames collected at most. */
const BATCH_MAX = 1_000;

export interface FrameStream<F> {
  /** The address to connect to. Every frame received before has been applied when it is asked for. */
  url: () => string;
  apply: (frames: readonly F[]) => void;
  isLast: (frame: F) => boolean;
  /** Called when the server refuses for good. */
  refused: (problem: Problem) => void;
}

/** Follows a stream of frames; the function it returns stops it. */
export function followFrames<F>({ url, apply, isLast, refused }: FrameStream<F>): () => void {
  let batch: F[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const frames = batch;
    batch = [];
    if (frames.length > 0) apply(frames);
  };
  const stop = follow({
    url: () => {
      flush();
      return url();
    },
    take: (data) => {
      const frame = JSON.parse(data) as F;
      batch.push(frame);
      if (batch.length >= BATCH_MAX) flush();
      else timer ??= setTimeout(flush, BATCH_MS);
      return isLast(frame);
    },
    refused,
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}
