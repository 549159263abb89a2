import { IconArrowFork, IconChevronRight, IconTool } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { duration } from './format';
import { type ShownStatus, StatusIcon } from './Status';
import { Duration } from './Time';
import css from './ToolCard.module.css';

interface ToolCardProps {
  name: string;
  /** The call in one line. */
  line: string;
  status: ShownStatus;
  isSubtask: boolean;
  startedAt?: string | undefined;
  durationMs?: number | undefined;
  /** The details, rendered when the card is opened. */
  children: () => ReactNode;
}

/** A tool call: one line until it is opened. */
export function ToolCard({ name, line, status, isSubtask, startedAt, durationMs, children }: ToolCardProps) {
  const [open, setOpen] = useState(false);
  const Icon = isSubtask ? IconArrowFork : IconTool;
  return (
    <div className={css.call} data-outcome={status === 'FAILED' ? 'FAILURE' : undefined}>
      <button type="button" className={css.callHead} aria-expanded={open} onClick={() => setOpen(!open)}>
        <IconChevronRight size={14} className={css.chevron} />
        <StatusIcon status={status} size={14} />
        <Icon size={14} aria-hidden />
        <strong>{name}</strong>
        <code>{line}</code>
        <small>
          {durationMs === undefined ? startedAt ? <Duration from={startedAt} /> : null : duration(durationMs)}
        </small>
      </button>
      {open ? <div className={css.callBody}>{children()}</div> : null}
    </div>
  );
}

export function ToolPart({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <h4>{title}</h4>
      {children}
    </div>
  );
}

/** Arguments and result in one line, without the punctuation of JSON. */
export function inOneLine(args: string, result: string | undefined): string {
  const asked = args.length < 2_000 ? args.replace(/^\{"?|\}$/g, '') : args.slice(0, 200);
  const answered = result === undefined ? '' : ` → ${result.slice(0, 160).replaceAll('\n', ' ')}`;
  return `${asked.replaceAll('":', ': ').replaceAll(',"', ', ')}${answered}`;
}
