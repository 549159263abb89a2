import { Button } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { ProblemNote } from '../../ui/Note';
import { Ago } from '../../ui/Time';
import css from './Editor.module.css';
import { useEditor } from './useEditor';
import { Conflict, Deleted, EarlierVersion } from './VersionNotices';
import { WatchedRun } from './WatchedRun';
import { t } from '../../words/t';
import { Said } from '../../words/Said';

/** Everything the person should know before going on, between the bar and the canvas. */
export function Notices() {
  const { saving, actions, editing, address, watched } = useEditor();
  const { run, detail, problem } = watched;
  return (
    <>
      {saving.isGone ? <Deleted saveAgain={() => actions.copy.mutate()} /> : null}
      {saving.error ? <Failure what={t('It was not saved')} error={saving.error} /> : null}
      <ConflictNotice />
      <DraftNotice />
      {problem ? <Failure what={t('The run could not be watched')} error={problem} /> : null}
      {run && detail ? (
        <WatchedRun
          run={run}
          detail={detail}
          version={editing.base?.version}
          close={() => address.set({ run: undefined })}
        />
      ) : null}
      <VersionNotice />
    </>
  );
}

function Failure({ what, error }: { what: string; error: Error }) {
  return (
    <div className={css.problem}>
      <ProblemNote what={what} error={error} />
    </div>
  );
}

/** The page went on with what was left unsaved. */
function DraftNotice() {
  const { draft, editing } = useEditor();
  if (draft.leftAt === undefined) return null;
  const of = editing.base ? t(', a change of version {version}', { version: editing.base.version }) : '';
  return (
    <div className={css.strip} role="status">
      <IconPencil size={17} aria-hidden />
      <div>
        <strong>
          <Said
            of="This is a draft from {ago}{version}. It is kept in this browser and not saved."
            ago={<Ago at={new Date(draft.leftAt).toISOString()} />}
            version={of}
          />
        </strong>
      </div>
      <span className={css.choices}>
        <Button size="xs" variant="default" onClick={draft.discard}>
          {t('Discard the draft')}
        </Button>
      </span>
    </div>
  );
}

function ConflictNotice() {
  const { saving, editing, address, save, backToEditing } = useEditor();
  const { theirs, takeTheirs, keepMine } = saving;
  if (!theirs || !editing.base) return null;
  return (
    <Conflict
      base={editing.base}
      theirs={theirs}
      look={() => address.set({ version: String(theirs.version), panel: 'versions' })}
      take={() => {
        backToEditing();
        takeTheirs();
      }}
      keep={() => {
        backToEditing();
        keepMine();
        save();
      }}
    />
  );
}

function VersionNotice() {
  const { store, graph, address, shownVersion, versionError, backToEditing } = useEditor();
  if (versionError) {
    return (
      <div className={css.problem}>
        <ProblemNote
          what={t('Version {version} could not be shown', { version: address.version ?? '' })}
          error={versionError}
        />
        <Button size="xs" variant="default" mt={6} onClick={backToEditing}>
          {t('Back to editing')}
        </Button>
      </div>
    );
  }
  if (!shownVersion) return null;
  const { workflow, graph: earlier } = shownVersion;
  const restore = (): void => {
    store.edit(t('restore version {version}', { version: workflow.version }), () => earlier);
    backToEditing();
  };
  return <EarlierVersion workflow={workflow} graph={graph} back={backToEditing} restore={restore} />;
}
