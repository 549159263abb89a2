import { Button } from '@mantine/core';
import type { KeyboardEvent } from 'react';
import css from './Reviews.module.css';
import { t } from '../../words/t';

/** Asked before a review ends its run. */
export function Ending({ end, back }: { end: () => void; back: () => void }) {
  const typed = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') back();
  };
  // Escape leaves the question, not a dialog around it: the marks on the buttons see to that.
  return (
    <div className={css.actions} role="group" aria-label={t('End the run here?')}>
      <p className={css.ending}>{t('End the run here? No other task of it starts; what is done stays.')}</p>
      <Button color="red" autoFocus data-mantine-stop-propagation="true" onKeyDown={typed} onClick={end}>
        {t('End the run')}
      </Button>
      <Button variant="default" data-mantine-stop-propagation="true" onKeyDown={typed} onClick={back}>
        {t('Back')}
        <kbd>Esc</kbd>
      </Button>
    </div>
  );
}
