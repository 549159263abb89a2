import { ActionIcon, Button, FileButton, Select, Textarea, Tooltip } from '@mantine/core';
import { IconArrowUp, IconPaperclip, IconPlayerStopFilled } from '@tabler/icons-react';
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useCapabilities } from '../../api/queries';
import type { Mode } from '../../chat/frame';
import { ActIcon } from '../../ui/Act';
import { ProblemNote } from '../../ui/Note';
import { useDraft } from '../../ui/useDraft';
import { useKeys } from '../../ui/useKeys';
import { attach, type Draft, draftName, EMPTY, newestDraft } from './attachments';
import css from './Chat.module.css';
import { ChosenFiles } from './FileChips';
import { type Message, type Outgoing, useMessage, useMode, useModel } from './settings';
import { t } from '../../words/t';

export const MODES: { value: Mode; label: string }[] = [
  { value: 'plan', label: t('Plan: no effects') },
  { value: 'default', label: t('Ask before effects') },
  { value: 'auto', label: t('Act without asking') },
];

interface ComposerProps {
  isRunning: boolean;
  isSending: boolean;
  /** The thread it writes for, under which an unfinished message is kept. */
  thread: string;
  /** Fails with the reason when the message was not taken. */
  send: (outgoing: Outgoing) => Promise<unknown>;
  stop: () => void;
  /** Changes the permission mode of the running turn. */
  setTurnMode?: (mode: Mode) => void;
}

/** The id of the field for messages, of which a page has one. */
export const COMPOSER = 'message';

/** A message to send as soon as its files are uploaded and the one before it was taken. */
interface Wanted {
  content: string;
  ifBusy: 'interrupt' | undefined;
  /** The files refused before; one more, and the writer decides again. */
  refused: number;
}

/** The field for messages. While a turn runs, a message waits for its end or interrupts it. */
export function Composer({ isRunning, isSending, thread, send, stop, setTurnMode }: ComposerProps) {
  const models = useCapabilities().data?.models ?? [];
  const [{ content, files, refusal }, setDraft] = useDraft<Draft>(draftName(thread), EMPTY);
  const isUploading = files.some(({ attached, problem }) => !attached && problem === undefined);
  const [model, setModel] = useModel();
  const [mode, setMode] = useMode();
  const messageOf = useMessage();
  const here = useRef<HTMLDivElement>(null);
  const [wanted, setWanted] = useState<Wanted>();
  const refused = files.filter(({ problem }) => problem !== undefined).length;
  const isDue = wanted !== undefined && wanted.content === content && wanted.refused === refused;
  const isHeld = isSending || isUploading;
  const deliver = (ifBusy?: 'interrupt'): void => {
    const busy = ifBusy ?? (isRunning ? 'queue' : undefined);
    const attached = files.flatMap((file) => file.attached ?? []);
    const message: Message = { ...messageOf(content, attached), ...(busy ? { if_busy: busy } : {}) };
    setDraft({ content: '', files: [], refusal: undefined });
    send({ message, attached }).catch((reason: unknown) => {
      // The refused message stands before the text typed meanwhile.
      const since = newestDraft(thread);
      setWanted(undefined);
      setDraft({
        content: since.content ? `${content}\n\n${since.content}` : content,
        files: [...files, ...since.files],
        refusal: reason,
      });
    });
  };
  const submit = (ifBusy?: 'interrupt'): void => {
    if (!content.trim()) return;
    if (isHeld) setWanted({ content, ifBusy, refused });
    else deliver(ifBusy);
  };
  useEffect(() => {
    if (isDue && !isHeld) deliver(wanted.ifBusy);
  });
  const choose = (chosen: Mode): void => {
    setMode(chosen);
    if (isRunning) setTurnMode?.(chosen);
  };
  const pasted = (event: ClipboardEvent): void => {
    const given = [...event.clipboardData.files];
    if (given.length === 0) return;
    event.preventDefault();
    attach(thread, given);
  };
  const typed = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && isRunning && !event.repeat && !event.nativeEvent.isComposing) stop();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  useKeys(here, isRunning ? { Escape: stop } : {});
  return (
    <div className={css.composer} ref={here}>
      {refusal === undefined ? null : (
        <div className={css.refusal}>
          <ProblemNote what={t('Your message was not sent')} error={refusal} />
        </div>
      )}
      <div className={css.box}>
        <Textarea
          id={COMPOSER}
          variant="unstyled"
          aria-label={t('Message')}
          placeholder={isRunning ? t('Write a message for after this turn') : t('Write a message')}
          autosize
          minRows={1}
          maxRows={12}
          autoFocus
          value={content}
          onChange={(event) => {
            setWanted(undefined);
            setDraft({ content: event.currentTarget.value });
          }}
          onKeyDown={typed}
          onPaste={pasted}
        />
        <ChosenFiles thread={thread} files={files} />
        <div className={css.chips}>
          <FileButton multiple onChange={(given) => attach(thread, given)}>
            {(props) => (
              <ActIcon {...props} needs="run" variant="subtle" color="gray" size={28} aria-label={t('Attach files')}>
                <IconPaperclip size={16} />
              </ActIcon>
            )}
          </FileButton>
          <Select
            size="xs"
            variant="unstyled"
            w={104}
            rightSectionWidth={18}
            aria-label={t('Model')}
            data={[
              { value: '', label: t('Default model') },
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
            aria-label={t('Permission mode')}
            data={MODES}
            value={mode}
            allowDeselect={false}
            onChange={(value) => choose((value ?? 'default') as Mode)}
          />
          <span className={css.space} />
          {isRunning && content.trim() ? (
            <>
              <Button size="xs" variant="default" onClick={() => submit('interrupt')}>
                {t('Interrupt')}
              </Button>
              <Button size="xs" loading={isDue} onClick={() => submit()}>
                {t('Queue')}
              </Button>
            </>
          ) : null}
          {isRunning ? (
            <Tooltip
              label={
                <>
                  {t('Stop this turn')} <kbd>Esc</kbd>
                </>
              }
            >
              <ActionIcon variant="default" size={30} radius="xl" aria-label={t('Stop')} onClick={stop}>
                <IconPlayerStopFilled size={14} />
              </ActionIcon>
            </Tooltip>
          ) : (
            <ActIcon
              needs="run"
              size={30}
              radius="xl"
              aria-label={t('Send')}
              disabled={!content.trim()}
              loading={isSending || isDue}
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
