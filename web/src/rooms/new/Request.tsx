import { Button, CopyButton } from '@mantine/core';
import { IconChecklist, IconPlayerPlay } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useNavigate } from 'react-router';
import { post } from '../../api/client';
import type { Accepted, Rehearsal, RunRequest } from '../../api/types';
import { ActButton } from '../../ui/Act';
import { ProblemNote } from '../../ui/Note';
import css from './New.module.css';

interface RequestProps {
  request: RunRequest;
  /** Called when the server has taken it. */
  started: () => void;
  /** Begins again with nothing. */
  clear: () => void;
}

/** The request as it will be sent; the server can check it before. */
export function Request({ request, started, clear }: RequestProps) {
  const navigate = useNavigate();
  const json = JSON.stringify(request, null, 2);
  const rehearse = useMutation({ mutationFn: () => post<Rehearsal>('/api/runs', { ...request, dryRun: true }) });
  const start = useMutation({
    mutationFn: () => post<Accepted>('/api/runs', request),
    onSuccess: ({ runId }) => {
      started();
      void navigate(`/runs/${runId}/graph`);
    },
  });
  const error = start.error ?? rehearse.error;
  // The answers to another request do not hold for this one.
  useEffect(() => {
    rehearse.reset();
    start.reset();
  }, [json]); // oxlint-disable-line react/exhaustive-deps
  return (
    <aside className={css.side} aria-label="The request">
      <div className={css.actions}>
        <ActButton
          needs="run"
          leftSection={<IconPlayerPlay size={16} />}
          loading={start.isPending}
          onClick={() => start.mutate()}
        >
          Start the run
        </ActButton>
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
        <Button variant="subtle" color="gray" onClick={clear}>
          Start over
        </Button>
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
