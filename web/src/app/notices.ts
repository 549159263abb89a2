// Desktop notifications, for those who asked for them. They are shown while the page is not looked at; tabs that are open
// at the same time show one together, because a notification replaces another of the same tag.

import { Store } from '../store/store';

const NAME = 'consort.notify';

export type NoticeState = 'on' | 'off' | 'blocked' | 'unsupported';

export interface Notice {
  /** Tells it from others; the same one is shown once. */
  tag: string;
  title: string;
  body: string;
  /** The page it leads to. */
  to: string;
}

function read(): NoticeState {
  if (!('Notification' in globalThis)) return 'unsupported';
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && localStorage.getItem(NAME) === 'on' ? 'on' : 'off';
}

class Notices extends Store<NoticeState> {
  constructor() {
    super(read());
  }

  /** Switches them on, which the browser asks about, or off. */
  async toggle(): Promise<void> {
    if (this.snapshot() === 'on') localStorage.removeItem(NAME);
    else if ((await Notification.requestPermission()) === 'granted') localStorage.setItem(NAME, 'on');
    this.set(read());
  }

  show({ tag, title, body, to }: Notice, go: (to: string) => void): void {
    if (read() !== 'on' || !document.hidden) return;
    const shown = new Notification(title, { tag, body, icon: '/favicon.svg' });
    shown.addEventListener('click', () => {
      window.focus();
      go(to);
      shown.close();
    });
  }
}

export const notices = new Notices();
