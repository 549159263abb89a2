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

/** The tools there are, what they touch, and a form to try those that may be called directly. */
export default function Tools() {
  const { data, error } = useCapabilities();
  return (
    <Page title="Tools">
      {error ? <ProblemNote what="The tools could not be listed" error={error} /> : null}
      {data?.tools.length === 0 ? (
        <Card>
          <Empty icon={IconTool} title="No tools are configured">
            <p>
              List some under <code>[tools]</code> in <code>consort.toml</code>.
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
    <section className={css.servers} aria-label="MCP servers">
      {servers.map(({ name, tools, unavailable }) => (
        <div key={name} className={css.server} data-away={unavailable ? true : undefined}>
          <strong>{name}</strong>
          <span>
            MCP server, {tools.length} {tools.length === 1 ? 'tool' : 'tools'}
          </span>
          <span className={css.chip} data-tone={unavailable ? 'bad' : 'good'}>
            {unavailable ? 'away' : 'connected'}
          </span>
          {unavailable ? <small>{unavailable}</small> : null}
        </div>
      ))}
    </section>
  );
}

const EFFECTS: Record<ToolInfo['effect'], string> = {
  read: 'reads only',
  idempotent: 'may be repeated',
  once: 'never repeated',
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
          {tool.permission.replaceAll('_', ' ')}
        </span>
        <span className={css.chip}>{EFFECTS[tool.effect]}</span>
        {tool.unavailable ? (
          <span className={css.chip} data-tone="bad">
            unavailable: {tool.unavailable}
          </span>
        ) : null}
        {tool.direct && !tool.unavailable ? (
          <Button size="compact-sm" variant="default" aria-expanded={open} onClick={() => setOpen(!open)}>
            Try it
          </Button>
        ) : null}
      </header>
      <Markdown text={tool.description} />
      {open ? <ToolForm name={tool.name} schema={tool.inputSchema} effect={tool.effect} /> : null}
    </article>
  );
}
