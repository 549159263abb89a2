import { SegmentedControl, Skeleton, TextInput } from '@mantine/core';
import { useCapabilities } from '../../api/queries';
import type { Capabilities } from '../../api/types';
import { printed } from '../../ui/format';
import { ProblemNote } from '../../ui/Note';
import { Page } from '../../ui/Page';
import { type Draft, emptyDraft, toRequest, variables } from './draft';
import css from './New.module.css';
import { Options } from './Options';
import { Overrides } from './Overrides';
import { OwnTasks } from './OwnTasks';
import { Request } from './Request';
import { useKeptDraft } from './useKeptDraft';
import { t } from '../../words/t';

/** The page on which a run is composed, with the request it will be beside it. */
export default function New() {
  const { data, error } = useCapabilities();
  return (
    <Page title={t('New run')}>
      {error ? <ProblemNote what={t('The ensemble could not be read')} error={error} /> : null}
      {data ? <Composer capabilities={data} /> : error ? null : <Skeleton height={320} radius={10} />}
    </Page>
  );
}

function Composer({ capabilities }: { capabilities: Capabilities }) {
  const { draft, change, forget } = useKeptDraft(() => emptyDraft(capabilities));
  const hasEnsemble = capabilities.preconfiguredTasks.length > 0;
  return (
    <div className={css.columns}>
      <div className={css.form}>
        {hasEnsemble ? (
          <SegmentedControl
            aria-label={t('Kind of run')}
            value={draft.source}
            onChange={(source) => change({ source: source as Draft['source'] })}
            data={[
              { value: 'ensemble', label: t('The configured ensemble') },
              { value: 'own', label: t('My own tasks') },
            ]}
          />
        ) : null}
        {draft.source === 'ensemble' ? (
          <>
            <Inputs capabilities={capabilities} draft={draft} change={change} />
            <Overrides capabilities={capabilities} draft={draft} change={change} />
          </>
        ) : (
          <>
            <OwnTasks capabilities={capabilities} draft={draft} change={change} />
            <Inputs capabilities={capabilities} draft={draft} change={change} />
          </>
        )}
        <Options draft={draft} change={change} />
      </div>
      <Request request={toRequest(draft)} started={forget} clear={forget} />
    </div>
  );
}

export interface PartProps {
  capabilities: Capabilities;
  draft: Draft;
  change: (changed: Partial<Draft>) => void;
}

function Inputs({ capabilities, draft, change }: PartProps) {
  const names = variables(draft, capabilities);
  const defaults = draft.source === 'ensemble' ? capabilities.inputs : {};
  if (names.length === 0) return null;
  return (
    <section className={css.card}>
      <header>
        <h2>{t('Inputs')}</h2>
      </header>
      <div className={css.two}>
        {names.map((name) => (
          <TextInput
            key={name}
            label={name}
            placeholder={defaults[name] === undefined ? t('needed') : printed(defaults[name])}
            withAsterisk={defaults[name] === undefined}
            value={draft.inputs[name] ?? ''}
            onChange={(event) => change({ inputs: { ...draft.inputs, [name]: event.currentTarget.value } })}
          />
        ))}
      </div>
    </section>
  );
}
