import { Button } from '@mantine/core';
import { IconAlertTriangle, IconHistory } from '@tabler/icons-react';
import type { SavedWorkflow } from '../../api/types';
import { Ago } from '../../ui/Time';
import { changes } from '../../workflow/changes';
import { toGraph } from '../../workflow/convert';
import type { Graph } from '../../workflow/graph';
import css from './Editor.module.css';

/** Differences listed; the rest is counted. */
const LISTED = 4;

function inWords(found: string[]): string {
  if (found.length === 0) return 'Nothing is different';
  return found.slice(0, LISTED).join('; ') + (found.length > LISTED ? `; and ${found.length - LISTED} more` : '');
}

interface ConflictProps {
  base: { version: number; graph: Graph };
  theirs: SavedWorkflow;
  look: () => void;
  take: () => void;
  keep: () => void;
}

/** Somebody else has saved a version while this one was changed. */
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
export function Deleted({ saveAgain }: { saveAgain: () => void }) {
  return (
    <div className={css.strip} data-tone="bad" role="alert">
      <IconAlertTriangle size={17} aria-hidden />
      <div>
        <strong>This workflow is no longer saved.</strong>
        <p>It was deleted, or was never here. What is on the canvas can be saved as a new one.</p>
      </div>
      <span className={css.choices}>
        <Button size="xs" onClick={saveAgain}>
          Save as a new workflow
        </Button>
      </span>
    </div>
  );
}

interface EarlierVersionProps {
  workflow: SavedWorkflow;
  graph: Graph;
  restore: () => void;
  back: () => void;
}

/** An earlier version is on the canvas, to be looked at. */
export function EarlierVersion({ workflow, graph, restore, back }: EarlierVersionProps) {
  return (
    <div className={css.strip} role="status">
      <IconHistory size={17} aria-hidden />
      <div>
        <strong>
          Version {workflow.version}, saved <Ago at={workflow.updatedAt} /> by {workflow.updatedBy}.
        </strong>
        <p>Restoring it would change: {inWords(changes(graph, toGraph(workflow)))}.</p>
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
