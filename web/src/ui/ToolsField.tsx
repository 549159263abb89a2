import { TagsInput } from '@mantine/core';
import { useCapabilities, useNetwork } from '../api/queries';
import type { Network } from '../api/types';
import { t } from '../words/t';

interface ToolsFieldProps {
  label: string;
  value: string[];
  /** Tools the task has anyway, which are not offered. */
  known?: string[];
  error?: string | undefined;
  onChange: (tools: string[]) => void;
}

/** Tools by name: those of this server, and of the network. Others can be typed, since peers come and go. */
export function ToolsField({ label, value, known, error, onChange }: ToolsFieldProps) {
  const here = useCapabilities().data?.tools.map(({ name }) => name) ?? [];
  const there = fromNetwork(useNetwork('quiet').data).filter((name) => !here.includes(name));
  const offered = (names: string[]): string[] => names.filter((name) => !known?.includes(name));
  const data = [
    { group: t('Here'), items: offered(here) },
    { group: t('On the network'), items: offered(there) },
  ].filter(({ items }) => items.length > 0);
  return (
    <TagsInput
      label={label}
      placeholder={value.length > 0 ? '' : t('None')}
      data={data}
      value={value}
      error={error}
      onChange={onChange}
    />
  );
}

/** The tools of the network a task may list: all of them, those with a tag, or one by name. */
export function fromNetwork(network: Pick<Network, 'peers'> | undefined): string[] {
  const linked = network?.peers.filter(({ connected }) => connected) ?? [];
  if (linked.length === 0) return [];
  const tools = linked.flatMap(({ sharedCapabilities }) => sharedCapabilities.filter(({ type }) => type === 'TOOL'));
  const tags = [...new Set(tools.flatMap((tool) => tool.tags))].toSorted();
  const names = linked.flatMap((peer) => peer.sharedCapabilities.map(({ name }) => `${peer.name}.${name}`));
  return ['network:*', ...tags.map((tag) => `network:#${tag}`), ...names];
}
