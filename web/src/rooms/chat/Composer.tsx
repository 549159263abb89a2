import { ActionIcon, Button, Select, Textarea, Tooltip } from '@mantine/core';
import { IconArrowUp, IconPlayerStopFilled } from '@tabler/icons-react';
import { type KeyboardEvent, useRef } from 'react';
import { useCapabilities } from '../../api/queries';
import type { Mode } from '../../chat/frame';
import { ActIcon } from '../../ui/Act';
import { ProblemNote } from '../../ui/Note';
import { draftOf, useDraft } from '../../ui/useDraft';
import { useKeys } from '../../ui/useKeys';
import css from './Chat.module.css';
import { type Message, useMessage, useMode, useModel } from './settings';

export const MODES: { value: Mode; label: string }[] = [
  { value: 'plan', label: 'Plan: no effects' },
  { value: 'default', label: 'Ask before effects' },
  { value: 'auto', label: 'Do without asking' },
];

interface ComposerProps {
  isRunning: boolean;
  isSending: boolean;
  /** The thread it writes for, under which an unfinished message is kept. */
  thread: string;
  /** Fails with the reason when the message was not taken. */
  send: (message: Message) => Promise<unknown>;
  stop: () => void;
  /** Changes the permission mode of the running turn. */
  setTurnMode?: (mode: Mode) => void;
}

/** The name an unfinished message to a thread is kept under. */
export const draftName = (thread: string): string => `message to ${thread}`;

interface Draft {
  content: string;
  /** The reason the message was not taken. */
  refusal?: unknown;
}

/** The field for messages. While a turn runs, a message waits for its end or interrupts it. */
export function Composer({ isRunning, isSending, thread, send, stop, setTurnMode }: ComposerProps) {
  const models = useCapabilities().data?.models ?? [];
  const name = draftName(thread);
  const [{ content, refusal }, setDraft] = useDraft<Draft>(name, { content: '' });
  const [model, setModel] = useModel();
  const [mode, setMode] = useMode();
  const messageOf = useMessage();
  const here = useRef<HTMLDivElement>(null);
  const submit = (ifBusy?: 'queue' | 'interrupt'): void => {
    if (!content.trim() || isSending) return;
    const message: Message = { ...messageOf(content), ...(ifBusy ? { if_busy: ifBusy } : {}) };
    setDraft({ content: '', refusal: undefined });
    send(message).catch((reason: unknown) => {
      // The refused message stands before the text typed meanwhile.
      const since = draftOf<Draft>(name)?.content;
      setDraft({ content: since ? `${content}\n\n${since}` : content, refusal: reason });
    });
  };
  const choose = (chosen: Mode): void => {
    setMode(chosen);
    if (isRunning) setTurnMode?.(chosen);
  };
  const typed = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && isRunning && !event.repeat && !event.nativeEvent.isComposing) stop();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit(isRunning ? 'queue' : undefined);
  };
  useKeys(here, isRunning ? { Escape: stop } : {});
  return (
    <div className={css.composer} ref={here}>
      {refusal === undefined ? null : (
        <div className={css.refusal}>
          <ProblemNote what="Your message was not sent" error={refusal} />
        </div>
      )}
      <div className={css.box}>
        <Textarea
          variant="unstyled"
          aria-label="Message"
          placeholder={isRunning ? 'Say something for after this turn' : 'Say something'}
          autosize
          minRows={1}
          maxRows={12}
          autoFocus
          value={content}
          onChange={(event) => setDraft({ content: event.currentTarget.value })}
          onKeyDown={typed}
        />
        <div className={css.chips}>
          <Select
            size="xs"
            variant="unstyled"
            w={104}
            rightSectionWidth={18}
            aria-label="Model"
            data={[
              { value: '', label: 'Default model' },
              ...models.map(({ alias }) => ({ value: alias, label: alias })),
            ]}
            value={model}
            allowDeselect={false}
            onChange={(value) => setModel(value ?? '')}
          />
          <Select
            size="xs"
            variant="unstyled"
            w={133}
            rightSectionWidth={18}
            aria-label="Permission mode"
            data={MODES}
            value={mode}
            allowDeselect={false}
            onChange={(value) => choose((value ?? 'default') as Mode)}
          />
          <span className={css.space} />
          {isRunning && content.trim() ? (
            <>
              <Button size="xs" variant="default" onClick={() => submit('interrupt')}>
                Interrupt
              </Button>
              <Button size="xs" onClick={() => submit('queue')}>
                Queue
              </Button>
            </>
          ) : null}
          {isRunning ? (
            <Tooltip
              label={
                <>
                  Stop this turn <kbd>Esc</kbd>
                </>
              }
            >
              <ActionIcon variant="default" size={30} radius="xl" aria-label="Stop" onClick={stop}>
                <IconPlayerStopFilled size={14} />
              </ActionIcon>
            </Tooltip>
          ) : (
            <ActIcon
              needs="run"
              size={30}
              radius="xl"
              aria-label="Send"
              disabled={!content.trim()}
              loading={isSending}
              onClick={() => submit()}
            >
              <IconArrowUp size={17} />
            </ActIcon>
          )}
        </div>
      </div>
    </div>
  );
}
