import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './app/tokens.css';
import './app/global.css';
import { speakTheReaders } from './words/language';

// The pages are loaded once the language is known: what they say is looked up as soon as they are there.
void speakTheReaders()
  .then(() => import('./app/start'))
  .then(({ start }) => start());
