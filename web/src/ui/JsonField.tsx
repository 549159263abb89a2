import { Textarea, type TextareaProps } from '@mantine/core';

/** A field for JSON, as high as what is in it. */
export function JsonField({ set, ...field }: Omit<TextareaProps, 'onChange'> & { set: (text: string) => void }) {
  return (
    <Textarea
      autosize
      minRows={3}
      maxRows={14}
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--mono)', fontSize: 12.5 } }}
      onChange={(event) => set(event.currentTarget.value)}
      {...field}
    />
  );
}
