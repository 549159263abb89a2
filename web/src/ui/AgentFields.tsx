import { Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { t } from '../words/t';

/** The fields of a task's agent. Without a role the server derives one from the task. */
export interface AgentDraft {
  role: string;
  goal: string;
  background: string;
  mayDelegate: boolean;
}

interface AgentFieldsProps {
  agent: AgentDraft;
  error?: string | undefined;
  set: (fields: Partial<AgentDraft>) => void;
}

export function AgentFields({ agent, error, set }: AgentFieldsProps) {
  return (
    <Stack gap={12}>
      <TextInput
        label={t('Role')}
        description={t('Without a role, the agent is derived from the task')}
        placeholder={t('Researcher')}
        value={agent.role}
        error={error}
        onChange={(event) => set({ role: event.currentTarget.value })}
      />
      <Textarea
        label={t('Goal')}
        placeholder={t('Default: the description of the task')}
        autosize
        minRows={1}
        maxRows={6}
        value={agent.goal}
        onChange={(event) => set({ goal: event.currentTarget.value })}
      />
      <Textarea
        label={t('Background')}
        autosize
        minRows={1}
        maxRows={6}
        value={agent.background}
        onChange={(event) => set({ background: event.currentTarget.value })}
      />
      <Switch
        label={t('May hand work to the agents of other tasks')}
        checked={agent.mayDelegate}
        onChange={(event) => set({ mayDelegate: event.currentTarget.checked })}
      />
    </Stack>
  );
}
