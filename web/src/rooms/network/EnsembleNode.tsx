import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import shared from '../../ui/Canvas.module.css';
import { Ago, Duration } from '../../ui/Time';
import type { Ensemble } from './ensembles';
import css from './Network.module.css';
import { Load, PRESENCES } from './Presence';
import { plural, t } from '../../words/t';
import { Said } from '../../words/Said';

export type EnsembleNodeData = { ensemble: Ensemble; isDim: boolean; isChosen: boolean; choose: () => void };
export type RealmNodeData = { name: string | null | undefined };

/** An ensemble on the map: its presence, its load and the number of its capabilities. */
export function EnsembleNode({ data: { ensemble, isDim, isChosen, choose } }: NodeProps<Node<EnsembleNodeData>>) {
  const { tone, word } = PRESENCES[ensemble.presence];
  const tasks = ensemble.capabilities.filter(({ type }) => type === 'TASK').length;
  const tools = ensemble.capabilities.length - tasks;
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <button
        type="button"
        className={`${shared.node} ${css.node}`}
        data-tone={tone}
        data-dim={isDim || undefined}
        aria-pressed={isChosen}
        onClick={choose}
      >
        <span className={`${shared.first} ${css.first}`}>
          <strong>{ensemble.name || t('this server')}</strong> <small>{word}</small>
        </span>
        <span className={shared.line}>
          {' '}
          {ensemble.load ? (
            <Load load={ensemble.load} />
          ) : ensemble.goneAt ? (
            <>
              <Said of="disconnected {ago}" ago={<Ago at={ensemble.goneAt} />} />
            </>
          ) : (
            (ensemble.error ?? '')
          )}
        </span>
        <span className={shared.last}>
          {' '}
          <span>
            {ensemble.presence === 'unreached' ? t('nothing is known about it') : sharedText(tools, tasks)}
          </span>{' '}
          {ensemble.presence === 'here' && ensemble.realm ? (
            <span>{t('realm {realm}', { realm: ensemble.realm })}</span>
          ) : null}
          {ensemble.since ? (
            <span title={t('The time since it was linked')}>
              <Duration from={ensemble.since} />
            </span>
          ) : null}
        </span>
      </button>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  );
}

function sharedText(tools: number, tasks: number): string {
  const parts = [
    ...(tools > 0 ? [plural(tools, '{n} tool', '{n} tools')] : []),
    ...(tasks > 0 ? [plural(tasks, '{n} task', '{n} tasks')] : []),
  ];
  return parts.length > 0 ? parts.join(', ') : t('shares nothing');
}

/** A realm, drawn around its ensembles. */
export function RealmNode({ data: { name } }: NodeProps<Node<RealmNodeData>>) {
  return (
    <div className={css.realm}>
      <span>{name === undefined ? t('not reached') : name === null ? t('no realm') : t('realm {name}', { name })}</span>
    </div>
  );
}
