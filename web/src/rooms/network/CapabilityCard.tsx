import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Capability } from '../../api/types';
import { Markdown } from '../../ui/Markdown';
import { ToolForm } from '../../ui/ToolForm';
import { type Ensemble, isAway } from './ensembles';
import css from './Network.module.css';
import { t } from '../../words/t';

/** Something an ensemble shares, with a form to call it as a tool. */
export function CapabilityCard({ ensemble, capability }: { ensemble: Ensemble; capability: Capability }) {
  const [open, setOpen] = useState(false);
  const isHere = ensemble.presence === 'here';
  const name = isHere ? capability.name : `${ensemble.name}.${capability.name}`;
  return (
    <article className={css.capability}>
      <header>
        <h4>{name}</h4>
        {isHere || isAway(ensemble) ? null : (
          <Button
            size="compact-xs"
            variant="default"
            aria-expanded={open}
            aria-label={t('Try it: {name}', { name })}
            onClick={() => setOpen(!open)}
          >
            {t('Try it')}
          </Button>
        )}
      </header>
      <div className={css.chips}>
        <span className={css.chip}>{capability.type.toLowerCase()}</span>
        {capability.tags.map((tag) => (
          <span key={tag} className={css.chip}>
            #{tag}
          </span>
        ))}
      </div>
      {capability.description ? <Markdown text={capability.description} /> : null}
      {open ? <ToolForm name={name} schema={capability.schema} effect={capability.effect} /> : null}
    </article>
  );
}
