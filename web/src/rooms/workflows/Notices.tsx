import { Button } from '@mantine/core';
import { ProblemNote } from '../../ui/Note';
import css from './Editor.module.css';
import { useEditor } from './useEditor';
import { Conflict, Deleted, EarlierVersion } from './VersionNotices';
import { WatchedRun } from './WatchedRun';

/** Everything the person should know before going on, between the bar and the canvas. */
export function Notices() {
  const { saving, actions, editing, address, watched } = useEditor();
  const { run, detail, problem } = watched;
  return (
    <>
      {saving.isGone ? <Deleted saveAgain={() => actions.copy.mutate()} /> : null}
      {saving.error ? <Failure what="It was not saved" error={saving.error} /> : null}
      <ConflictNotice />
      {problem ? <Failure what="The run could not be watched" error={problem} /> : null}
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
        <ProblemNote what={`Version ${address.version} could not be shown`} error={versionError} />
        <Button size="xs" variant="default" mt={6} onClick={backToEditing}>
          Back to editing
        </Button>
      </div>
    );
  }
  if (!shownVersion) return null;
  const { workflow, graph: earlier } = shownVersion;
  const restore = (): void => {
    store.edit(`restore version ${workflow.version}`, () => earlier);
    backToEditing();
  };
  return <EarlierVersion workflow={workflow} graph={graph} back={backToEditing} restore={restore} />;
}
