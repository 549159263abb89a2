import { Button } from '@mantine/core';
import { IconTool } from '@tabler/icons-react';
import { useState } from 'react';
import { useCapabilities } from '../../api/queries';
import type { Capabilities, ToolInfo } from '../../api/types';
import { Markdown } from '../../ui/Markdown';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page } from '../../ui/Page';
import { ToolForm } from '../../ui/ToolForm';
import css from './Catalog.module.css';
import { plural, t } from '../../words/t';
import { Said } from '../../words/Said';

/** The tools there are, what they touch, and a form to try those that may be called directly. */
export default function Tools() {
  const { data, error } = useCapabilities();
  return (
    <Page title={t('Tools')}>
      {error ? <ProblemNote what={t('The tools could not be listed')} error={error} /> : null}
      {data?.tools.length === 0 ? (
        <Card>
          <Empty icon={IconTool} title={t('No tools are configured')}>
            <p>
              <Said
                of="List some under {code} in {code2}."
                code={<code>[tools]</code>}
                code2={<code>consort.toml</code>}
              />
            </p>
          </Empty>
        </Card>
      ) : null}
      {data && data.mcpServers.length > 0 ? <Servers servers={data.mcpServers} /> : null}
      <div className={css.tools}>
        {data?.tools.map((tool) => (
          <Tool key={tool.name} tool={tool} />
        ))}
      </div>
    </Page>
  );
}

/** The MCP servers, and whether they are there. */
function Servers({ servers }: { servers: Capabilities['mcpServers'] }) {
  return (
    <section className={css.servers} aria-label={t('MCP servers')}>
      {servers.map(({ name, tools, unavailable }) => (
        <div key={name} className={css.server} data-away={unavailable ? true : undefined}>
          <strong>{name}</strong>
          <span>{plural(tools.length, 'MCP server, {n} tool', 'MCP server, {n} tools')}</span>
          <span className={css.chip} data-tone={unavailable ? 'bad' : 'good'}>
            {unavailable ? t('not available') : t('connected')}
          </span>
          {unavailable ? <small>{unavailable}</small> : null}
        </div>
      ))}
    </section>
  );
}

/** The permission that a tool needs, in words. */
const PERMISSIONS: Record<string, string> = {
  safe: t('safe'),
  knowledge: t('knowledge'),
  network: t('network'),
  workspace_write: t('workspace'),
  editor_mutate: t('editor mutate'),
  subagent: t('subagent'),
  secrets: t('secrets'),
  execute: t('execute'),
};

const EFFECTS: Record<ToolInfo['effect'], string> = {
  read: t('reads only'),
  idempotent: t('may be repeated'),
  once: t('never repeated'),
};

function Tool({ tool }: { tool: ToolInfo }) {
  const [open, setOpen] = useState(false);
  return (
    <article className={css.tool}>
      <header>
        <h2>{tool.name}</h2>
        <span
          className={css.chip}
          data-tone={tool.permission === 'safe' || tool.permission === 'knowledge' ? undefined : 'warn'}
        >
          {PERMISSIONS[tool.permission] ?? tool.permission}
        </span>
        <span className={css.chip}>{EFFECTS[tool.effect]}</span>
        {tool.unavailable ? (
          <span className={css.chip} data-tone="bad">
            {t('unavailable: {unavailable}', { unavailable: tool.unavailable })}
          </span>
        ) : null}
        {tool.direct && !tool.unavailable ? (
          <Button size="compact-sm" variant="default" aria-expanded={open} onClick={() => setOpen(!open)}>
            {t('Try it')}
          </Button>
        ) : null}
      </header>
      <Markdown text={tool.description} />
      {open ? <ToolForm name={tool.name} schema={tool.inputSchema} effect={tool.effect} /> : null}
    </article>
  );
}
