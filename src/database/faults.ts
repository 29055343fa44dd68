import { defineFaults } from '#lib/fault'

export const databaseFault = defineFaults({
  DATABASE_MISSING: {
    severity: 'fatal',
    says: (d: { path: string }) => `there is no database ${d.path}`,
    fix: 'name the data directory of a node that executes blocks: --datadir DIR, the folder that contains chain/data.mdb',
  },
  DATABASE_EMPTY: {
    severity: 'fatal',
    says: (d: { path: string }) => `the database ${d.path} has no chain yet`,
    fix: 'start the node once, or name another data directory: --datadir DIR',
  },
})
