import { type DragEvent, type ReactNode, useState } from 'react';
import css from './DropArea.module.css';

interface DropAreaProps {
  /** The effect of dropping, shown while files are over the area. */
  says: string;
  /** Absent where nothing may be dropped. */
  take: ((files: File[]) => void) | undefined;
  className?: string | undefined;
  children: ReactNode;
}

/** An area that takes files dropped on it. */
export function DropArea({ says, take, className, children }: DropAreaProps) {
  // Every element inside is entered and left by itself: the files are gone when all of them are left.
  const [depth, setDepth] = useState(0);
  const carriesFiles = (event: DragEvent): boolean => event.dataTransfer.types.includes('Files');
  const over = (event: DragEvent): void => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = take ? 'copy' : 'none';
  };
  const drop = (event: DragEvent): void => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    setDepth(0);
    take?.([...event.dataTransfer.files]);
  };
  return (
    <div
      className={`${css.area} ${className ?? ''}`}
      onDragEnter={(event) => carriesFiles(event) && setDepth((now) => now + 1)}
      onDragLeave={(event) => carriesFiles(event) && setDepth((now) => Math.max(0, now - 1))}
      onDragOver={over}
      onDrop={drop}
    >
      {children}
      {depth > 0 && take ? <div className={css.over}>{says}</div> : null}
    </div>
  );
}
