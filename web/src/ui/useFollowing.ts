import { type RefCallback, type RefObject, useCallback, useRef, useState } from 'react';

/** Pixels from the end within which a reader who scrolls down has arrived there. */
const NEAR_PX = 80;
/** Pixels by which positions differ through rounding alone. */
const ROUNDING_PX = 2;

export interface Following {
  /** For the element that scrolls. */
  box: RefObject<HTMLDivElement | null>;
  /** For the one element inside it, whose height is watched. */
  inner: RefCallback<HTMLElement>;
  /** For `onScroll` of the box. */
  scrolled: () => void;
  isFollowing: boolean;
  /** Goes to the end and stays there. */
  follow: () => void;
}

/** Keeps a box scrolled to its end while its content grows, until the reader goes up. */
export function useFollowing(): Following {
  const box = useRef<HTMLDivElement>(null);
  const last = useRef({ top: 0, height: 0 });
  const [isFollowing, setFollowing] = useState(true);
  // The observer outlives renders, so it reads the newest answer here.
  const wanted = useRef(true);
  const want = (value: boolean): void => {
    wanted.current = value;
    setFollowing(value);
  };
  const toEnd = useCallback((): void => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, []);
  const inner = useCallback(
    (element: HTMLElement | null) => {
      if (!element) return undefined;
      const observer = new ResizeObserver(() => {
        if (wanted.current) toEnd();
      });
      observer.observe(element);
      // A window that becomes lower hides the end as well.
      if (element.parentElement) observer.observe(element.parentElement);
      return () => observer.disconnect();
    },
    [toEnd],
  );
  const scrolled = (): void => {
    const { current: at } = box;
    if (!at) return;
    const left = at.scrollHeight - at.scrollTop - at.clientHeight;
    // Growing content moves the end away without a reader's doing. Content that becomes shorter moves the reader up,
    // and may have grown again by the time this is told of it.
    const wentUp = at.scrollTop < last.current.top && at.scrollHeight >= last.current.height;
    last.current = { top: at.scrollTop, height: at.scrollHeight };
    want(wentUp ? left <= ROUNDING_PX : wanted.current || left < NEAR_PX);
  };
  const follow = (): void => {
    want(true);
    toEnd();
  };
  return { box, inner, scrolled, isFollowing, follow };
}
