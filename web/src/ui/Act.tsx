import { ActionIcon, type ActionIconProps, Button, type ButtonProps, Menu, type MenuItemProps } from '@mantine/core';
import type { ComponentPropsWithoutRef, ReactNode } from 'react';
import { Link } from 'react-router';
import { type Scope, useRefusal } from '../api/me';

type Native = Omit<ComponentPropsWithoutRef<'button'>, keyof ButtonProps | keyof ActionIconProps | keyof MenuItemProps>;

interface Needs {
  /** The scope of the key that the action needs; without it the button says so and does nothing. */
  needs: Scope;
}

/** A button for what a key may be too weak for. */
export function ActButton({ needs, disabled, title, ...props }: Needs & ButtonProps & Native) {
  const refusal = useRefusal(needs);
  return <Button {...props} disabled={disabled || refusal !== undefined} title={refusal ?? title} />;
}

/** A small button without words, for what a key may be too weak for. */
export function ActIcon({ needs, disabled, title, ...props }: Needs & ActionIconProps & Native) {
  const refusal = useRefusal(needs);
  return <ActionIcon {...props} disabled={disabled || refusal !== undefined} title={refusal ?? title} />;
}

/** An entry of a menu, for what a key may be too weak for. */
export function ActItem({ needs, disabled, title, ...props }: Needs & MenuItemProps & Native) {
  const refusal = useRefusal(needs);
  return <Menu.Item {...props} disabled={disabled || refusal !== undefined} title={refusal ?? title} />;
}

/** A link that looks like a button, to a page on which there is nothing to do without the scope. */
export function ActLink({ needs, to, ...props }: Needs & ButtonProps & { to: string; children: ReactNode }) {
  const refusal = useRefusal(needs);
  return refusal === undefined ? (
    <Button component={Link} to={to} {...props} />
  ) : (
    <Button {...props} disabled title={refusal} />
  );
}
