import { Button, Kbd, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { printed } from '../../ui/format';
import { ConfirmDelete } from '../../ui/ConfirmDelete';
import { typedInput } from '../../workflow/convert';
import { type Graph, variables } from '../../workflow/graph';
import css from './Editor.module.css';
import { RunOne } from './RunOne';
import { useEditor } from './useEditor';
import { t } from '../../words/t';

/** The consequence of deleting a workflow. */
export const ERASED = t('The workflow is erased with all of its versions. Its runs stay.');

/** The dialogs of the editor, of which at most one is open. */
export function EditorDialogs() {
  const { graph, actions, dialog, openDialog } = useEditor();
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
      {dialog === 'task' ? <RunOne close={close} /> : null}
      <Keys opened={dialog === 'keys'} close={close} />
      <ConfirmDelete what={graph.name} means={ERASED} opened={dialog === 'delete'} close={close} confirm={erase} />
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
}: DialogProps & { graph: Graph; start: (inputs: Record<string, unknown>) => void }) {
  const [values, setValues] = useState<Record<string, string>>({});
  const names = variables(graph);
  const missing = names.filter((name) => !values[name] && graph.inputs[name] === undefined);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (missing.length > 0) return;
    close();
    const given = Object.entries(values).filter(([, value]) => value !== '');
    start(Object.fromEntries(given.map(([name, value]) => [name, typedInput(value)])));
  };
  return (
    <Modal opened={opened} onClose={close} title={t('Inputs of the run')}>
      <form onSubmit={submit}>
        <Stack>
          {names.map((name, position) => (
            <TextInput
              key={name}
              label={name}
              {...(position === 0 ? { 'data-autofocus': true } : {})}
              withAsterisk={graph.inputs[name] === undefined}
              placeholder={graph.inputs[name] === undefined ? t('needed') : printed(graph.inputs[name])}
              value={values[name] ?? ''}
              onChange={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          ))}
          <Button type="submit" disabled={missing.length > 0}>
            {t('Run it')}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

const KEYS: [string[], string][] = [
  [['Tab'], t('from task to task, on the canvas')],
  [['Enter'], t('open the task in the panel')],
  [['N'], t('add a task that reads this one; without a task, a first one')],
  [['C'], t('connect: then Enter on the task that reads this one')],
  [['←', '↑', '→', '↓'], t('move the task; with Shift in small steps')],
  [[t('Delete')], t('remove the task, or all that are chosen')],
  [['Shift', 'Enter'], t('choose several')],
  [['Ctrl', 'C'], t('copy, and Ctrl V paste; Ctrl D duplicates')],
  [['Ctrl', 'Z'], t('undo, and Ctrl Shift Z redo')],
  [['Ctrl', 'S'], 'save'],
  [['Esc'], t('from the panel back to the task; stop connecting; choose nothing')],
];

function Keys({ opened, close }: DialogProps) {
  return (
    <Modal opened={opened} onClose={close} title={t('Keys on the canvas')}>
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
