// What a canvas says of itself to those who do not see it.

import type { ReactFlowProps } from '@xyflow/react';
import { t } from '../words/t';
import type { Flow } from './mermaid';

export const FLOW_WORDS: NonNullable<ReactFlowProps['ariaLabelConfig']> = {
  'node.a11yDescription.default': t('Enter or Space chooses it.'),
  'node.a11yDescription.keyboardDisabled': t('Enter or Space chooses it.'),
  'edge.a11yDescription.default': t('A link between two of them.'),
  'controls.ariaLabel': t('Zoom'),
  'controls.zoomIn.ariaLabel': t('Zoom in'),
  'controls.zoomOut.ariaLabel': t('Zoom out'),
  'controls.fitView.ariaLabel': t('Show everything'),
};

/** The name of a link. */
export const linkText = (from: string | number, to: string | number): string => t('From {from} to {to}', { from, to });

/** A drawing in words. */
export function flowText({ nodes, edges }: Flow): string {
  const nameOf = (id: string): string => nodes.find((node) => node.id === id)?.text ?? id;
  const text = (edge: Flow['edges'][number]): string => linkText(nameOf(edge.from), nameOf(edge.to));
  return edges.map((edge) => (edge.text ? `${text(edge)}: ${edge.text}` : text(edge))).join('; ');
}
