// The cluster, in German.

export const CLUSTER = {
  Address: 'Adresse',
  active: 'aktiv',
  'its lease ends in {time}': 'seine Frist endet in {time}',
  Node: 'Knoten',
  Nodes: 'Knoten',
  'Only for administrators': 'Nur für Verwalter',
  'Servers with the same {code} in {code2} share their runs, and take over the runs of a server that has stopped.':
    'Server mit demselben {code} in {code2} teilen sich ihre Läufe und übernehmen die eines Servers, der ausgefallen ist.',
  'The nodes could not be listed': 'Die Knoten konnten nicht aufgelistet werden',
  'This server is not part of a cluster': 'Dieser Server gehört zu keinem Cluster',
};
