import { t } from '../words/t';
import { shortId } from './format';

/** Returns the name of a run: its title, else its ensemble and the end of its id. Runs of earlier versions have no title. */
export function runName({ title, ensemble, runId }: { title?: string; ensemble: string; runId: string }): string {
  return title || `${ensemble || t('Composed run')} ${shortId(runId)}`;
}

/** Whether a run is work for another ensemble: those who asked for it steer it, its reviews alone are decided here. */
export const isForPeers = (runId: string): boolean => runId.startsWith('peer-');
