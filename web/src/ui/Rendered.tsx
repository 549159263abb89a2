import { toJsxRuntime } from 'hast-util-to-jsx-runtime';
import { common, createLowlight } from 'lowlight';
import { lazy, type ReactNode, Suspense, useContext, useMemo } from 'react';
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import rehypeSanitize from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import remarkMath from 'remark-math';
import { breaks } from './breaks';
import { CopyText } from './CopyText';
import css from './Markdown.module.css';
import { HeadingLevel, relevel } from './headings';
import { mathMarks } from './math';
import { t } from '../words/t';

const Formula = lazy(() => import('./Formula'));
const Diagram = lazy(() => import('./Diagram'));

const lowlight = createLowlight(common);
/** Characters beyond which code is shown without colours. */
const COLOURED_MAX = 20_000;

const languageOf = (className: string | undefined): string | undefined => /language-(\S+)/.exec(className ?? '')?.[1];

function Code({ children, className }: { children?: ReactNode; className?: string | undefined }) {
  const language = languageOf(className);
  const text = typeof children === 'string' ? children : undefined;
  const coloured = useMemo(() => {
    if (!language || !text || text.length > COLOURED_MAX || !lowlight.registered(language)) return undefined;
    return toJsxRuntime(lowlight.highlight(language, text), { Fragment, jsx, jsxs });
  }, [language, text]);
  if (language === 'math' && text)
    return (
      <Suspense fallback={<code>{text}</code>}>
        <Formula tex={text} isBlock={false} />
      </Suspense>
    );
  return <code>{coloured ?? children}</code>;
}

/** The language and the text of a block of code. */
function blockOf(node: ExtraProps['node']): { language: string | undefined; text: string } {
  const code = node?.children[0];
  if (code?.type !== 'element') return { language: undefined, text: '' };
  const names = code.properties['className'];
  const [first] = code.children;
  return {
    language: languageOf(Array.isArray(names) ? names.join(' ') : undefined),
    text: first?.type === 'text' ? first.value.replace(/\n$/, '') : '',
  };
}

/** A block of code, or what it draws. */
function Block({ node, children }: { node: ExtraProps['node']; children?: ReactNode }) {
  const { language, text } = blockOf(node);
  const code = (
    <div className={css.block}>
      {/* A long line is scrolled with keys too. */}
      <pre tabIndex={0} role="group" aria-label={t('the code')}>
        {children}
      </pre>
      <CopyText text={text} what={t('the code')} />
    </div>
  );
  if (language === 'math')
    return (
      <Suspense fallback={<pre>{text}</pre>}>
        <Formula tex={text} isBlock />
      </Suspense>
    );
  if (language === 'mermaid')
    return (
      <Suspense fallback={code}>
        <Diagram text={text}>{code}</Diagram>
      </Suspense>
    );
  return code;
}

const COMPONENTS: Components = {
  code: ({ children, className }) => <Code className={className}>{children}</Code>,
  pre: ({ children, node }) => <Block node={node}>{children}</Block>,
  a: ({ children, href }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  // A picture from elsewhere would tell that it was looked at.
  img: ({ alt, src }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noreferrer noopener">
      {alt || t('picture')}
    </a>
  ),
};

// A single dollar is money; formulas are marked before.
const PLUGINS = [remarkGfm, [remarkMath, { singleDollarTextMath: false }]] as const;

export default function Rendered({ text }: { text: string }) {
  const marked = useMemo(() => mathMarks(text), [text]);
  const level = useContext(HeadingLevel);
  const plugins = useMemo(() => [rehypeSanitize, relevel(level), breaks], [level]);
  return (
    <ReactMarkdown remarkPlugins={[...PLUGINS] as never} rehypePlugins={plugins as never} components={COMPONENTS}>
      {marked}
    </ReactMarkdown>
  );
}
