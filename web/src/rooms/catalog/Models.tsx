import { IconCpu } from '@tabler/icons-react';
import { useCapabilities } from '../../api/queries';
import type { ModelInfo } from '../../api/types';
import { count } from '../../ui/format';
import { Empty, ProblemNote } from '../../ui/Note';
import { Card, Page, WideCard } from '../../ui/Page';
import columns from '../../ui/Table.module.css';
import css from './Catalog.module.css';
import { number, t } from '../../words/t';
import { Said } from '../../words/Said';

/** The models there are to choose from, with what they can do and cost. */
export default function Models() {
  const { data, error } = useCapabilities();
  return (
    <Page title={t('Models')}>
      {error ? <ProblemNote what={t('The models could not be listed')} error={error} /> : null}
      {data?.models.length === 0 ? (
        <Card>
          <Empty icon={IconCpu} title={t('No models are configured')}>
            <p>
              <Said
                of="Name one under {code} in {code2}."
                code={<code>[models]</code>}
                code2={<code>consort.toml</code>}
              />
            </p>
          </Empty>
        </Card>
      ) : null}
      {data && data.models.length > 0 ? (
        <WideCard name={t('Models')}>
          <table className={`${columns.table} ${css.table}`}>
            <thead>
              <tr>
                <th scope="col">{t('Alias')}</th>
                <th scope="col">{t('Provider')}</th>
                <th scope="col">{t('Abilities')}</th>
                <th scope="col">{t('On failure')}</th>
                <th scope="col" className={css.number}>
                  {t('Context window')}
                </th>
                <th scope="col" className={css.number}>
                  {t('Output limit')}
                </th>
                <th scope="col" className={css.number}>
                  {t('Input price')}
                </th>
                <th scope="col" className={css.number}>
                  {t('Output price')}
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
      <span className={css.muted}>{t('not set')}</span>
    ) : (
      <span>
        ${number(usd, 2)} <span className={css.muted}>/ M</span>
      </span>
    );
  const after = model.fallback.length > 0 ? t(', then {names}', { names: model.fallback.join(', ') }) : '';
  return (
    <tr>
      <td>
        <strong>{model.alias}</strong>
      </td>
      <td>{model.provider}</td>
      <td data-name={t('Abilities')}>
        {!model.tools
          ? t('answer')
          : model.parallelToolCalls
            ? t('answer, call several tools at once')
            : t('answer, call tools')}
      </td>
      <td data-name={t('On failure')}>{t('{retries} more tries{after}', { retries: model.retries, after })}</td>
      <td className={css.number} data-name={t('Context window')}>
        {count(model.contextTokens)}
      </td>
      <td className={css.number} data-name={t('Output limit')}>
        {count(model.maxOutputTokens)}
      </td>
      <td className={css.number} data-name={t('Input price')}>
        {price(model.price?.input)}
      </td>
      <td className={css.number} data-name={t('Output price')}>
        {price(model.price?.output)}
      </td>
    </tr>
  );
}
