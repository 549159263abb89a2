import { IconCpu } from '@tabler/icons-react';
import { useCapabilities } from '../../api/queries';
import type { ModelInfo } from '../../api/types';
import { count } from '../../ui/format';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page, WideCard } from '../../ui/Page';
import css from './Catalog.module.css';

/** The models there are to choose from, with what they can do and cost. */
export default function Models() {
  const { data, error } = useCapabilities();
  return (
    <Page title="Models">
      {error ? <ProblemNote what="The models could not be listed" error={error} /> : null}
      {data?.models.length === 0 ? (
        <Card>
          <Empty icon={IconCpu} title="No models are configured">
            <p>
              Name one under <code>[models]</code> in <code>consort.toml</code>.
            </p>
          </Empty>
        </Card>
      ) : null}
      {data && data.models.length > 0 ? (
        <WideCard name="Models">
          <table className={css.table}>
            <thead>
              <tr>
                <th scope="col">Alias</th>
                <th scope="col">Provider</th>
                <th scope="col">Can</th>
                <th scope="col">When it fails</th>
                <th scope="col" className={css.number}>
                  Reads
                </th>
                <th scope="col" className={css.number}>
                  Writes
                </th>
                <th scope="col" className={css.number}>
                  Price in
                </th>
                <th scope="col" className={css.number}>
                  Price out
                </th>
              </tr>
            </thead>
            <tbody>
              {data.models.map((model) => (
                <Row key={model.alias} model={model} />
              ))}
            </tbody>
          </table>
        </WideCard>
      ) : null}
    </Page>
  );
}

function Row({ model }: { model: ModelInfo }) {
  const price = (usd: number | undefined) =>
    usd === undefined ? (
      <span className={css.muted}>not set</span>
    ) : (
      <span>
        ${usd.toFixed(2)} <span className={css.muted}>/ M</span>
      </span>
    );
  const after = model.fallback.length > 0 ? `, then ${model.fallback.join(', ')}` : '';
  return (
    <tr>
      <td>
        <strong>{model.alias}</strong>
      </td>
      <td>{model.provider}</td>
      <td data-name="Can">
        {!model.tools ? 'talk' : model.parallelToolCalls ? 'talk, call tools side by side' : 'talk, call tools'}
      </td>
      <td data-name="When it fails">
        {model.retries} more tries{after}
      </td>
      <td className={css.number} data-name="Reads">
        {count(model.contextTokens)}
      </td>
      <td className={css.number} data-name="Writes">
        {count(model.maxOutputTokens)}
      </td>
      <td className={css.number} data-name="Price in">
        {price(model.price?.input)}
      </td>
      <td className={css.number} data-name="Price out">
        {price(model.price?.output)}
      </td>
    </tr>
  );
}
