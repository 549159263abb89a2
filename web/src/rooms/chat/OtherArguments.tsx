import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type KeyboardEvent, useState } from 'react';
import { post } from '../../api/client';
import type { Approval } from '../../chat/frame';
import { ActButton } from '../../ui/Act';
import { parsed } from '../../ui/Json';
import { JsonField } from '../../ui/JsonField';
import { ProblemNote } from '../../ui/Note';
import css from './Chat.module.css';
import { t } from '../../words/t';

/** The arguments as a person wants them; the call is made once, with these. */
export function OtherArguments({ approval, back }: { approval: Approval; back: () => void }) {
  const [text, setText] = useState(() => JSON.stringify(approval.args, null, 2));
  const args = parsed(text);
  const isObject = args !== undefined && !Array.isArray(args);
  const allow = useMutation({
    mutationFn: () => post(`/api/approvals/${approval.approval_id}`, { decision: 'allow', args }),
  });
  const typed = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') back();
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && isObject) allow.mutate();
  };
  return (
    <>
      <JsonField
        label={t('Arguments')}
        description={t('As JSON. The model is told what you changed.')}
        autoFocus
        value={text}
        error={isObject ? undefined : t('This is not a JSON object')}
        set={setText}
        onKeyDown={typed}
      />
      {allow.error ? <ProblemNote what={t('The call was not allowed')} error={allow.error} /> : null}
      <div className={css.buttons}>
        <ActButton
          needs="review"
          size="xs"
          color="green"
          loading={allow.isPending}
          disabled={!isObject}
          onClick={() => allow.mutate()}
        >
          {t('Allow with these arguments')}
        </ActButton>
        <Button size="xs" variant="default" onClick={back}>
          {t('Back')}
        </Button>
      </div>
    </>
  );
}
