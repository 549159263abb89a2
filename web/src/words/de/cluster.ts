// The cluster, in German.

export const CLUSTER = {
  Address: 'Adresse',
  'at work': 'bei der Arbeit',
  'its lease ends in {time}': 'seine Frist endet in {time}',
  Node: 'Knoten',
  Nodes: 'Knoten',
  'Only for administrators': 'Nur für Verwalter',
  'Servers with the same {code} in {code2} share their runs, and take over those of one that is gone.':
    'Server mit demselben {code} in {code2} teilen sich ihre Läufe und übernehmen die von einem, der weg ist.',
  'The nodes could not be listed': 'Die Knoten konnten nicht aufgelistet werden',
  'This server is alone': 'Dieser Server ist allein',
};
