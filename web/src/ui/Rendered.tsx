import { toJsxRuntime } from 'hast-util-to-jsx-runtime';
import { common, createLowlight } from 'lowlight';
import { type ReactNode, useMemo } from 'react';
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';
import ReactMarkdown, { type Components } from 'react-markdown';
import rehypeSanitize from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';

const lowlight = createLowlight(common);
/** Characters beyond which code is shown without colours. */
const COLOURED_MAX = 20_000;

function Code({ children, className }: { children?: ReactNode; className?: string | undefined }) {
  const language = /language-(\S+)/.exec(className ?? '')?.[1];
  const text = typeof children === 'string' ? children : undefined;
  const coloured = useMemo(() => {
    if (!language || !text || text.length > COLOURED_MAX || !lowlight.registered(language)) return undefined;
    return toJsxRuntime(lowlight.highlight(language, text), { Fragment, jsx, jsxs });
  }, [language, text]);
  return <code>{coloured ?? children}</code>;
}

const COMPONENTS: Components = {
  code: ({ children, className }) => <Code className={className}>{children}</Code>,
  a: ({ children, href }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  // The page has its own headings above these.
  h1: 'h3',
  h2: 'h4',
  h3: 'h5',
  h4: 'h6',
  h5: 'h6',
  // A picture from elsewhere would tell that it was looked at.
  img: ({ alt, src }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noreferrer noopener">
      {alt || 'image'}
    </a>
  ),
};

export default function Rendered({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={[remarkGfm]} rehypePlugins={[rehypeSanitize]} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  );
}
