// The component library's theme. Colours are static CSS (tokens.css): the content security policy allows no inline
// style elements, so nothing here may need one.

import { createTheme, Drawer, Menu, Modal, Tooltip } from '@mantine/core';
import { t } from '../words/t';

export const theme = createTheme({
  primaryColor: 'indigo',
  defaultRadius: 6,
  cursorType: 'pointer',
  focusRing: 'auto',
  components: {
    // Locking the scroll inserts a style element.
    Modal: Modal.extend({
      defaultProps: { lockScroll: false, centered: true, closeButtonProps: { 'aria-label': t('Close') } },
    }),
    Drawer: Drawer.extend({ defaultProps: { lockScroll: false, closeButtonProps: { 'aria-label': t('Close') } } }),
    // A placeholder for the focus would be an entry of the menu that is none.
    Menu: Menu.extend({
      defaultProps: { shadow: 'md', position: 'bottom-end', withInitialFocusPlaceholder: false },
    }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 400, withArrow: true } }),
  },
});
