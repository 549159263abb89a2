import { Button } from '@mantine/core';
import { IconAlertTriangle, IconExternalLink, IconHistory, IconX } from '@tabler/icons-react';
import { Link } from 'react-router';
import { post } from '../../api/client';
import type { RunDetail, SavedWorkflow } from '../../api/types';
import { now } from '../../run/now';
import type { RunState } from '../../run/state';
import { count, shortId } from '../../ui/format';
import { ReviewButton } from '../../ui/ReviewButton';
import { standingOf, StatusPill } from '../../ui/Status';
import { Ago, Countdown } from '../../ui/Time';
import { useAction } from '../../ui/useAction';
import { changes } from '../../workflow/changes';
import { toGraph } from '../../workflow/convert';
import type { Graph } from '../../workflow/graph';
import css from './Editor.module.css';

/** Differences told before the rest is only counted. */
const TOLD = 4;

function inWords(found: string[]): string {
  if (found.length === 0) return 'Nothing is different';
  return found.slice(0, TOLD).join('; ') + (found.length > TOLD ? `; and ${found.length - TOLD} more` : '');
}

interface ConflictProps {
  base: { version: number; graph: Graph };
  theirs: SavedWorkflow;
  look: () => void;
  take: () => void;
  keep: () => void;
}

/** Somebody else was faster. */
export function Conflict({ base, theirs, look, take, keep }: ConflictProps) {
  return (
    <div className={css.strip} data-tone="warn" role="alert">
      <IconAlertTriangle size={17} aria-hidden />
      <div>
        <strong>
          {theirs.updatedBy} saved version {theirs.version} <Ago at={theirs.updatedAt} />, while you were changing
          version {base.version}.
        </strong>
        <p>
          What is different in it: {inWords(changes(base.graph, toGraph(theirs)))}. Your changes are still here and not
          saved.
        </p>
      </div>
      <span className={css.choices}>
        <Button size="xs" variant="default" onClick={look}>
          Look at version {theirs.version}
        </Button>
        <Button size="xs" variant="default" onClick={take}>
          Take theirs
        </Button>
        <Button size="xs" onClick={keep}>
          Keep mine, as version {theirs.version + 1}
        </Button>
      </span>
    </div>
  );
}

/** The workflow was deleted while it was open here. */
export function Gone({ again }: { again: () => void }) {
  return (
    <div className={css.strip} data-tone="bad" role="alert">
      <IconAlertTriangle size={17} aria-hidden />
      <div>
        <strong>This workflow is no longer saved.</strong>
        <p>It was deleted, or was never here. What is on the canvas can be saved as a new one.</p>
      </div>
      <span className={css.choices}>
        <Button size="xs" onClick={again}>
          Save as a new workflow
        </Button>
      </span>
    </div>
  );
}

interface OldProps {
  seen: SavedWorkflow;
  graph: Graph;
  restore: () => void;
  back: () => void;
}

/** An earlier version is on the canvas, to be looked at. */
export function Old({ seen, graph, restore, back }: OldProps) {
  return (
    <div className={css.strip} role="status">
      <IconHistory size={17} aria-hidden />
      <div>
        <strong>
          Version {seen.version}, saved <Ago at={seen.updatedAt} /> by {seen.updatedBy}.
        </strong>
        <p>Restoring it would change: {inWords(changes(graph, toGraph(seen)))}.</p>
      </div>
      <span className={css.choices}>
        <Button size="xs" variant="default" onClick={back}>
          Back to editing
        </Button>
        <Button size="xs" onClick={restore}>
          Restore it
        </Button>
      </span>
    </div>
  );
}

interface WatchedProps {
  run: RunState;
  detail: RunDetail;
  version: number | undefined;
  close: () => void;
}

/** The run whose states the tasks show. */
export function Watched({ run, detail, version, close }: WatchedProps) {
  const { text, tone, until, reviewId } = now(run, detail);
  const stop = useAction('Cancelling', () => post(`/api/runs/${run.runId}/cancel`, { mode: 'now' }));
  const done = run.tasks.filter((task) => task.status === 'COMPLETED' && !task.isManager).length;
  const ran = Number(detail.tags['workflowVersion'] ?? 0);
  return (
    <div className={css.strip} data-tone="run">
      <StatusPill
        standing={standingOf({
          ...run,
          cancelRequested: run.cancel !== undefined,
          waitingFor: reviewId ? 'review' : undefined,
        })}
      />
      <div>
        <strong data-tone={tone} role="status">
          {text}
          {until ? (
            <>
              {' '}
              · <Countdown to={until} />
            </>
          ) : null}
        </strong>
        <p>
          Run <Link to={`/runs/${run.runId}/graph`}>{shortId(run.runId)}</Link> of version {ran || '?'}
          {ran && version && ran !== version ? `; the canvas shows version ${version}` : ''} · {done} of{' '}
          {run.tasks.filter((task) => !task.isManager).length} tasks ·{' '}
          {count(run.totals.inputTokens + run.totals.outputTokens)} tokens
        </p>
      </div>
      <span className={css.choices}>
        {reviewId ? <ReviewButton id={reviewId} size="xs" variant="light" /> : null}
        {run.endedAt ? null : (
          <Button size="xs" variant="default" loading={stop.isPending} onClick={() => stop.mutate()}>
            Stop
          </Button>
        )}
        <Button
          component={Link}
          to={`/runs/${run.runId}/graph`}
          size="xs"
          variant="default"
          leftSection={<IconExternalLink size={14} />}
        >
          Open the run
        </Button>
        <Button size="xs" variant="default" leftSection={<IconX size={14} />} onClick={close}>
          Stop watching
        </Button>
      </span>
    </div>
  );
}
