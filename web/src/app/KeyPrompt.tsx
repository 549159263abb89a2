import { Button, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { key } from '../api/key';
import { useStore } from '../store/store';
import { Said } from '../words/Said';
import { t } from '../words/t';

/** Asks for an API key when the server does. One sign-in is enough for all tabs that are open. */
export function KeyPrompt() {
  const { value: known, isAsked } = useStore(key);
  const [value, setValue] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (value.trim()) key.use(value.trim());
    setValue('');
  };
  return (
    <Modal
      opened={isAsked}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title={t('This server asks for a key')}
    >
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">
            {known ? `${t('The key was not accepted.')} ` : ''}
            {t('Paste the key you were given.')}{' '}
            <Said
              of="The person who runs the server makes one with {command}; it is shown only once."
              command={<code>consort keys new</code>}
            />{' '}
            {t('Its configuration holds only a hash.')}{' '}
            {t('All open tabs share it. It is forgotten when the last of them is closed.')}
          </Text>
          <PasswordInput
            label={t('API key')}
            value={value}
            onChange={(event) => setValue(event.currentTarget.value)}
            data-autofocus
            autoComplete="off"
          />
          <Button type="submit" disabled={!value.trim()}>
            {t('Connect')}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
