import { Button } from '@mantine/core';
import { IconAlertTriangle, IconHistory } from '@tabler/icons-react';
import type { SavedWorkflow } from '../../api/types';
import { Ago } from '../../ui/Time';
import { changes } from '../../workflow/changes';
import { toGraph } from '../../workflow/convert';
import type { Graph } from '../../workflow/graph';
import css from './Editor.module.css';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

/** Differences listed; the rest is counted. */
const LISTED = 4;

function inWords(found: string[]): string {
  if (found.length === 0) return t('Nothing is different');
  return (
    found.slice(0, LISTED).join('; ') +
    (found.length > LISTED ? t('; and {value} more', { value: found.length - LISTED }) : '')
  );
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
          <Said
            of="{updatedBy} saved version {version} {ago}, while you were changing version {mine}."
            updatedBy={theirs.updatedBy}
            version={theirs.version}
            ago={<Ago at={theirs.updatedAt} />}
            mine={base.version}
          />
        </strong>
        <p>
          {t('Differences: {changes}. Your changes are still here and not saved.', {
            changes: inWords(changes(base.graph, toGraph(theirs))),
          })}
        </p>
      </div>
      <span className={css.choices}>
        <Button size="xs" variant="default" onClick={look}>
          {t('Look at version {version}', { version: theirs.version })}
        </Button>
        <Button size="xs" variant="default" onClick={take}>
          {t('Use theirs')}
        </Button>
        <Button size="xs" onClick={keep}>
          {t('Keep mine, as version {version}', { version: theirs.version + 1 })}
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
        <strong>{t('This workflow is no longer saved.')}</strong>
        <p>{t('It does not exist, or has been deleted. The canvas can be saved as a new workflow.')}</p>
      </div>
      <span className={css.choices}>
        <Button size="xs" onClick={saveAgain}>
          {t('Save as a new workflow')}
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
          <Said
            of="Version {version}, saved {ago} by {updatedBy}."
            version={workflow.version}
            ago={<Ago at={workflow.updatedAt} />}
            updatedBy={workflow.updatedBy}
          />
        </strong>
        <p>{t('Restoring it would change: {value}.', { value: inWords(changes(graph, toGraph(workflow))) })}</p>
      </div>
      <span className={css.choices}>
        <Button size="xs" variant="default" onClick={back}>
          {t('Back to editing')}
        </Button>
        <Button size="xs" onClick={restore}>
          {t('Restore it')}
        </Button>
      </span>
    </div>
  );
}
