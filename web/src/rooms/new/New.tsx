import { Button, CopyButton, SegmentedControl, Select, Skeleton, TagsInput, TextInput } from '@mantine/core';
import { IconChecklist, IconPlayerPlay } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useNavigate } from 'react-router';
import { post } from '../../api/client';
import { useCapabilities } from '../../api/queries';
import type { Accepted, Capabilities, Rehearsal, RunRequest } from '../../api/types';
import { useMutation } from '@tanstack/react-query';
import { ProblemNote } from '../../ui/Note';
import { Page } from '../../ui/Page';
import { type Draft, emptyDraft, toRequest, variables } from './draft';
import css from './New.module.css';
import { Overrides } from './Overrides';
import { OwnTasks } from './OwnTasks';

/** A run is composed here, with the request it will be beside it. */
export default function New() {
  const { data, error } = useCapabilities();
  return (
    <Page title="New run">
      {error ? <ProblemNote what="What can be run could not be read" error={error} /> : null}
      {data ? <Composer capabilities={data} /> : error ? null : <Skeleton height={320} radius={10} />}
    </Page>
  );
}

function Composer({ capabilities }: { capabilities: Capabilities }) {
  const [draft, setDraft] = useState(() => emptyDraft(capabilities));
  const change = (changed: Partial<Draft>): void => setDraft((old) => ({ ...old, ...changed }));
  const hasEnsemble = capabilities.preconfiguredTasks.length > 0;
  return (
    <div className={css.columns}>
      <div className={css.form}>
        {hasEnsemble ? (
          <SegmentedControl
            aria-label="What to run"
            value={draft.source}
            onChange={(source) => change({ source: source as Draft['source'] })}
            data={[
              { value: 'ensemble', label: 'The configured ensemble' },
              { value: 'own', label: 'Tasks of my own' },
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
      <Sending request={toRequest(draft)} />
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
        <h2>Inputs</h2>
      </header>
      <div className={css.two}>
        {names.map((name) => (
          <TextInput
            key={name}
            label={name}
            placeholder={defaults[name] ?? 'needed'}
            withAsterisk={defaults[name] === undefined}
            value={draft.inputs[name] ?? ''}
            onChange={(event) => change({ inputs: { ...draft.inputs, [name]: event.currentTarget.value } })}
          />
        ))}
      </div>
    </section>
  );
}

const ANY = { value: '', label: 'As configured' };
const WORKFLOWS = [
  ANY,
  { value: 'SEQUENTIAL', label: 'One after another' },
  { value: 'PARALLEL', label: 'As soon as they can' },
  { value: 'HIERARCHICAL', label: 'Handed out by a manager' },
];
const POLICIES = [
  ANY,
  { value: 'NEVER', label: 'No reviews' },
  { value: 'AFTER_EVERY_TASK', label: 'After every task' },
  { value: 'AFTER_LAST_TASK', label: 'After the last task' },
];
const CAPTURES = [
  ANY,
  { value: 'OFF', label: 'Off' },
  { value: 'STANDARD', label: 'Standard' },
  { value: 'FULL', label: 'Full' },
];

function Options({ draft, change }: Omit<PartProps, 'capabilities'>) {
  return (
    <section className={css.card}>
      <header>
        <h2>Tags and options</h2>
      </header>
      <TagsInput
        label="Tags"
        placeholder="name:value, then Enter"
        value={draft.tags}
        onChange={(tags) => change({ tags })}
      />
      <div className={css.two}>
        <Select
          label="Order of tasks"
          data={WORKFLOWS}
          value={draft.workflow}
          allowDeselect={false}
          onChange={(value) => change({ workflow: (value ?? '') as Draft['workflow'] })}
        />
        <Select
          label="Reviews"
          data={POLICIES}
          value={draft.reviewPolicy}
          allowDeselect={false}
          onChange={(value) => change({ reviewPolicy: (value ?? '') as Draft['reviewPolicy'] })}
        />
        <Select
          label="Trace"
          data={CAPTURES}
          value={draft.captureMode}
          allowDeselect={false}
          onChange={(value) => change({ captureMode: (value ?? '') as Draft['captureMode'] })}
        />
      </div>
    </section>
  );
}

/** The request as it will be sent, checked by the server before it goes. */
function Sending({ request }: { request: RunRequest }) {
  const navigate = useNavigate();
  const json = JSON.stringify(request, null, 2);
  const rehearse = useMutation({ mutationFn: () => post<Rehearsal>('/api/runs', { ...request, dryRun: true }) });
  const start = useMutation({
    mutationFn: () => post<Accepted>('/api/runs', request),
    onSuccess: ({ runId }) => navigate(`/runs/${runId}/graph`),
  });
  const error = start.error ?? rehearse.error;
  // What was said of another request does not hold for this one.
  useEffect(() => {
    rehearse.reset();
    start.reset();
  }, [json]); // oxlint-disable-line react/exhaustive-deps
  return (
    <aside className={css.side} aria-label="The request">
      <div className={css.actions}>
        <Button leftSection={<IconPlayerPlay size={16} />} loading={start.isPending} onClick={() => start.mutate()}>
          Start the run
        </Button>
        <Button
          variant="default"
          leftSection={<IconChecklist size={16} />}
          loading={rehearse.isPending}
          onClick={() => {
            start.reset();
            rehearse.mutate();
          }}
        >
          Check it
        </Button>
        <CopyButton
          value={`curl -X POST ${location.origin}/api/runs -H 'content-type: application/json' -d '${json.replaceAll("'", "'\\''")}'`}
        >
          {({ copied, copy }) => (
            <Button variant="subtle" onClick={copy}>
              {copied ? 'Copied' : 'Copy as curl'}
            </Button>
          )}
        </CopyButton>
      </div>
      {error ? <ProblemNote what="The server would refuse this" error={error} /> : null}
      {rehearse.data && !error ? <Plan plan={rehearse.data} /> : null}
      <pre className={css.json} tabIndex={0} aria-label="The request as JSON">
        {json}
      </pre>
    </aside>
  );
}

function Plan({ plan }: { plan: Rehearsal }) {
  return (
    <div className={css.plan} role="status">
      <strong>It would run, {plan.workflow.toLowerCase()}:</strong>
      <ol>
        {plan.tasks.map((task) => (
          <li key={task.name}>
            {task.name}{' '}
            <small>
              by {task.agentRole} on {task.model}
              {task.tools.length > 0 ? ` with ${task.tools.join(', ')}` : ''}
              {task.context.length > 0 ? `, reads ${task.context.join(', ')}` : ''}
            </small>
          </li>
        ))}
      </ol>
      {plan.warnings.map((warning) => (
        <p key={warning}>{warning}</p>
      ))}
    </div>
  );
}
