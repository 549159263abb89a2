import { Button, Group, Kbd, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useBlocker } from 'react-router';
import { ConfirmDelete } from '../../ui/ConfirmDelete';
import { type Graph, variables } from '../../workflow/graph';
import type { EditorStore } from '../../workflow/store';
import css from './Editor.module.css';
import { useEditor } from './useEditor';

/** The consequence of deleting a workflow. */
export const ERASED = 'The workflow is erased with all of its versions. Its runs stay.';

/** The dialogs of the editor, of which at most one is open. */
export function EditorDialogs() {
  const { store, editing, saving, graph, actions, dialog, openDialog } = useEditor();
  const close = (): void => openDialog(undefined);
  const erase = (): void => {
    close();
    actions.erase.mutate();
  };
  return (
    <>
      <Inputs
        graph={graph}
        opened={dialog === 'inputs'}
        close={close}
        start={(inputs) => actions.start.mutate(inputs)}
      />
      <Keys opened={dialog === 'keys'} close={close} />
      <ConfirmDelete what={graph.name} means={ERASED} opened={dialog === 'delete'} close={close} confirm={erase} />
      {editing.isDirty ? <Leaving store={store} save={saving.save} /> : null}
    </>
  );
}

interface DialogProps {
  opened: boolean;
  close: () => void;
}

/** Asks for the inputs of a run. */
function Inputs({
  graph,
  opened,
  close,
  start,
}: DialogProps & { graph: Graph; start: (inputs: Record<string, string>) => void }) {
  const [values, setValues] = useState<Record<string, string>>({});
  const names = variables(graph);
  const missing = names.filter((name) => !values[name] && graph.inputs[name] === undefined);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (missing.length > 0) return;
    close();
    start(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')));
  };
  return (
    <Modal opened={opened} onClose={close} title="What is this run about?">
      <form onSubmit={submit}>
        <Stack>
          {names.map((name, position) => (
            <TextInput
              key={name}
              label={name}
              {...(position === 0 ? { 'data-autofocus': true } : {})}
              withAsterisk={graph.inputs[name] === undefined}
              placeholder={graph.inputs[name] ?? 'needed'}
              value={values[name] ?? ''}
              onChange={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          ))}
          <Button type="submit" disabled={missing.length > 0}>
            Run it
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

const KEYS: [string[], string][] = [
  [['Tab'], 'from task to task, on the canvas'],
  [['Enter'], 'open the task in the panel'],
  [['N'], 'add a task that reads this one; without a task, a first one'],
  [['C'], 'connect: then Enter on the task that reads this one'],
  [['←', '↑', '→', '↓'], 'move the task; with Shift in small steps'],
  [['Delete'], 'remove the task, or all that are chosen'],
  [['Shift', 'Enter'], 'choose several'],
  [['Ctrl', 'C'], 'copy, and Ctrl V paste; Ctrl D duplicates'],
  [['Ctrl', 'Z'], 'undo, and Ctrl Shift Z redo'],
  [['Ctrl', 'S'], 'save'],
  [['Esc'], 'from the panel back to the task; stop connecting; choose nothing'],
];

function Keys({ opened, close }: DialogProps) {
  return (
    <Modal opened={opened} onClose={close} title="Keys on the canvas">
      <dl className={css.keys}>
        {KEYS.map(([keys, does]) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}

/** Asks before unsaved changes are lost by going to another page. */
function Leaving({ store, save }: { store: EditorStore; save: () => Promise<unknown> }) {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      store.snapshot().isDirty && currentLocation.pathname !== nextLocation.pathname,
  );
  if (blocker.state !== 'blocked') return null;
  const { proceed, reset } = blocker;
  const saveFirst = async (): Promise<void> => {
    await save();
    if (store.snapshot().isDirty) reset();
    else proceed();
  };
  return (
    <Modal opened onClose={reset} title="Leave without saving?">
      <Text size="sm">The changes on the canvas are not saved. They are lost when you leave.</Text>
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={reset} data-autofocus>
          Stay
        </Button>
        <Button variant="subtle" color="red" onClick={proceed}>
          Leave
        </Button>
        <Button onClick={() => void saveFirst()}>Save and leave</Button>
      </Group>
    </Modal>
  );
}
