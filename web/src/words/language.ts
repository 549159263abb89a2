// The reader's language: chosen in the menu, or the first one of the browser's that is there.

import { said, speak } from './t';

const KEPT = 'consort.language';

/** The languages there are, by their own names. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' };

export type Language = keyof typeof LANGUAGES;

/** English in brackets, by which a test finds what is said past the dictionaries. */
const MARKED = 'marked';

function isLanguage(word: string): word is Language {
  return Object.hasOwn(LANGUAGES, word);
}

function kept(): string {
  try {
    return localStorage.getItem(KEPT) ?? '';
  } catch {
    // Without storage the browser's list decides.
    return '';
  }
}

/** The language of choice; absent: as the browser wants it. */
export function chosenLanguage(): Language | undefined {
  const word = kept();
  return isLanguage(word) ? word : undefined;
}

/** Keeps the choice and loads the page again in it. */
export function chooseLanguage(language: Language | undefined): void {
  if (language === undefined) localStorage.removeItem(KEPT);
  else localStorage.setItem(KEPT, language);
  location.reload();
}

/** The first language of a browser's list that there is. */
export function bestLanguage(wanted: readonly string[]): Language {
  return wanted.map((tag) => tag.split('-')[0]?.toLowerCase() ?? '').find(isLanguage) ?? 'en';
}

/** Has every sentence said in the reader's language from now on. */
export async function speakTheReaders(): Promise<void> {
  if (kept() === MARKED) return speak('en-GB', (english) => `⟦${said(english)}⟧`);
  const language = chosenLanguage() ?? bestLanguage(navigator.languages);
  document.documentElement.lang = language;
  if (language === 'en') return;
  const { GERMAN } = await import('./de');
  const dictionary: Record<string, string> = GERMAN;
  speak('de-DE', (english) => dictionary[english] ?? said(english));
}
