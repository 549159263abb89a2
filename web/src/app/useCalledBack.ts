import { useEffect, useRef } from 'react';
import { useNavigate } from 'react-router';
import { useApprovals, useRuns } from '../api/queries';
import { useOpenReviews } from '../review/useHeld';
import { useStore } from '../store/store';
import { news, type Waiting } from './calls';
import { notices } from './notices';

/** Runs whose end is noticed: the newest. */
const WATCHED = 50;

/** The number of things that wait for a person, shown by a dot on the page's icon and told as notifications. */
export function useCalledBack(): { reviews: number; approvals: number } {
  const { reviews, total } = useOpenReviews();
  const approvals = useApprovals().data;
  const isOn = useStore(notices) === 'on';
  const runs = useRuns(`limit=${WATCHED}`, isOn).data?.runs;
  const navigate = useNavigate();
  const before = useRef<Waiting>(undefined);
  const waiting = total + (approvals?.total ?? 0);
  useEffect(() => {
    document.querySelector('link[rel="icon"]')?.setAttribute('href', waiting > 0 ? '/favicon-dot.svg' : '/favicon.svg');
  }, [waiting]);
  useEffect(() => {
    if (!isOn || !reviews || !approvals || !runs) return;
    const after: Waiting = { reviews, approvals: approvals.approvals, runs };
    // What waited when the page was opened is on the page.
    for (const notice of before.current ? news(before.current, after) : [])
      notices.show(notice, (to) => void navigate(to));
    before.current = after;
  }, [isOn, reviews, approvals, runs, navigate]);
  return { reviews: total, approvals: approvals?.total ?? 0 };
}
