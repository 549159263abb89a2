import { Moment, Until } from '../../ui/Time';
import css from './Schedules.module.css';
import { t } from '../../words/t';

/** Times shown of one schedule. */
const NEXT_MAX = 5;

interface NextProps {
  times: readonly string[];
  isPaused: boolean;
  name: string;
  /** The time zone of its pattern. */
  zone: string | undefined;
}

/** The next due times, the first with how long it takes until then. */
export function Next({ times, isPaused, name, zone }: NextProps) {
  const [first] = times;
  return (
    <div className={css.next}>
      <h3>{isPaused ? t('Would be due') : t('Next')}</h3>
      {first && !isPaused ? <Until at={first} /> : null}
      <ol aria-label={t('When {name} is due', { name })}>
        {times.slice(0, NEXT_MAX).map((at) => (
          <li key={at}>
            <Moment at={at} zone={zone} />
          </li>
        ))}
      </ol>
    </div>
  );
}
