// The addresses of collections and documents: of the API, and of the pages.

export const collectionPath = (name: string): string => `/api/collections/${encodeURIComponent(name)}`;

export const documentPath = (name: string, id: number | string): string =>
  `${collectionPath(name)}/documents/${encodeURIComponent(id)}`;

export const collectionAddress = (name: string): string => `/documents?${new URLSearchParams({ collection: name })}`;

export const documentAddress = (name: string, id: number | string): string =>
  `/documents?${new URLSearchParams({ collection: name, document: String(id) })}`;
