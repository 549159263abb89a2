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
import { t } from '../../words/t';

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
    <aside className={css.side} aria-label={t('The request')}>
      <div className={css.actions}>
        <ActButton
          needs="run"
          leftSection={<IconPlayerPlay size={16} />}
          loading={start.isPending}
          onClick={() => start.mutate()}
        >
          {t('Start the run')}
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
          {t('Check it')}
        </Button>
      </div>
      {error ? <ProblemNote what={t('The server would refuse this')} error={error} /> : null}
      {rehearse.data && !error ? <Plan plan={rehearse.data} /> : null}
      <div className={css.requestHead}>
        <h2>{t('The request')}</h2>
        <CopyButton
          value={`curl -X POST ${location.origin}/api/runs -H 'content-type: application/json' -d '${json.replaceAll("'", "'\\''")}'`}
        >
          {({ copied, copy }) => (
            <Button variant="subtle" size="compact-sm" onClick={copy}>
              {copied ? t('Copied') : t('Copy as curl')}
            </Button>
          )}
        </CopyButton>
        <Button variant="subtle" size="compact-sm" color="gray" onClick={clear}>
          {t('Start over')}
        </Button>
      </div>
      <pre className={css.json} tabIndex={0} aria-label={t('The request as JSON')}>
        {json}
      </pre>
    </aside>
  );
}

function Plan({ plan }: { plan: Rehearsal }) {
  return (
    <div className={css.plan} role="status">
      <strong>{t('It would run, {workflow}:', { workflow: plan.workflow.toLowerCase() })}</strong>
      <ol>
        {plan.tasks.map((task) => (
          <li key={task.name}>
            {task.name}{' '}
            <small>
              {t('by {role} on {model}', { role: task.agentRole, model: task.model })}
              {task.tools.length > 0 ? t(' with {names}', { names: task.tools.join(', ') }) : ''}
              {task.context.length > 0 ? t(', reads {names}', { names: task.context.join(', ') }) : ''}
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
