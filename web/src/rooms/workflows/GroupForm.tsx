import { Button, Group as Row, MultiSelect, Select, TextInput } from '@mantine/core';
import { groupOf, type Group, titleOf } from '../../workflow/graph';
import { changeGroup, dissolve } from '../../workflow/groups';
import { BranchFields, Count, Expression } from './BranchFields';
import css from './Editor.module.css';
import { useEditor } from './useEditor';
import { t } from '../../words/t';

const AT_THE_END = [
  { value: 'fail', label: t('Its tasks fail') },
  { value: 'accept', label: t('Its last round counts') },
];

/** The group of the selected tasks: what is skipped, repeated or fanned out together. */
export function GroupForm({ group }: { group: Group }) {
  const { store, graph, issues } = useEditor();
  const first = group.tasks[0] ?? '';
  const set = (fields: Partial<Group>): void =>
    store.edit(
      t("change the group '{name}'", { name: group.name }),
      (old) => changeGroup(old, first, fields),
      `group.${first}.${Object.keys(fields).join()}`,
    );
  const wrong = (field: string): string | undefined =>
    issues
      .filter((issue) => issue.task === first && issue.field === `group.${field}`)
      .map(({ message }) => message)
      .join('; ') || undefined;
  const free = graph.tasks.filter(({ id }) => [undefined, group].includes(groupOf(graph, id)));
  const members = (ids: string[]): void => {
    if (ids.length === 0) return;
    const tasks = graph.tasks.filter(({ id }) => ids.includes(id)).map(({ id }) => id);
    set({ tasks });
    store.select(tasks);
  };
  return (
    <form
      className={css.form}
      onSubmit={(event) => event.preventDefault()}
      aria-label={t('Group {name}', { name: group.name })}
    >
      <TextInput
        label={t('Name of the group')}
        description={t('Its output is the output of its last task')}
        value={group.name}
        error={wrong('name') ?? wrong('')}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <MultiSelect
        label={t('Its tasks')}
        data={free.map(({ id }) => ({ value: id, label: titleOf(graph, id) }))}
        value={group.tasks}
        error={wrong('tasks')}
        onChange={members}
      />
      <Expression
        label={t('Repeat until')}
        description={t(
          'A condition in CEL, checked after each round; a task can read the output of a later one from the round before',
        )}
        placeholder="outputs.critique.approved"
        value={group.repeatUntil}
        error={wrong('repeatUntil')}
        onChange={(repeatUntil) => set({ repeatUntil })}
      />
      {group.repeatUntil.trim() ? (
        <Row gap={10} align="flex-start">
          <Count
            label={t('Rounds at most')}
            placeholder="5"
            value={group.maxRounds}
            error={wrong('maxRounds')}
            onChange={(maxRounds) => set({ maxRounds })}
          />
          <Select
            label={t('If the condition never holds')}
            flex={1}
            data={AT_THE_END}
            value={group.onMaxRounds || 'fail'}
            error={wrong('onMaxRounds')}
            allowDeselect={false}
            onChange={(value) => set({ onMaxRounds: value === 'accept' ? 'accept' : 'fail' })}
          />
        </Row>
      ) : null}
      <BranchFields of={group} set={set} wrong={wrong} what="group" />
      <Button
        size="xs"
        variant="subtle"
        color="red"
        onClick={() =>
          store.edit(t("dissolve the group '{name}'", { name: group.name }), (old) => dissolve(old, first))
        }
      >
        {t('Dissolve the group; its tasks stay')}
      </Button>
    </form>
  );
}
