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
  VERIFY_NOT_SAVED: {
    severity: 'retry',
    says: (d: { path: string; reason: string }) => `the position of the verification cannot be written to ${d.path}: ${d.reason}`,
    fix: 'nothing to do unless it is interrupted: it then starts over; to continue it, let this user write there, or free space on that disk',
  },
  COPY_DIFFERS: {
    severity: 'fatal',
    says: (d: { dir: string }) => `the compacted copy in ${d.dir} has other heads or rows than the database`,
    fix: 'check the disk and run basalt db verify; the database is unchanged',
  },
  EXPORT_RANGE: {
    severity: 'fatal',
    says: (d: { from: number; to: number; first: number; head: number }) =>
      `blocks ${d.from} to ${d.to} cannot be exported: the database has blocks ${d.first} to ${d.head} after the genesis`,
    fix: 'choose other bounds: --export.from N, --export.to N',
  },
  BLOCK_DAMAGED: {
    severity: 'fatal',
    says: (d: { number: number; reason: string }) => `block ${d.number} of the database cannot be exported: ${d.reason}`,
    fix: 'run basalt db verify, which names the rows; if the block is pruned, export later blocks: --export.from N',
  },
  EXPORT_REORGED: {
    severity: 'fatal',
    says: (d: { number: number }) =>
      `the chain was reorganized during the export: block ${d.number} is not the child of the last written block any more`,
    fix: 'export again, up to a finalized block: --export.to N',
  },
})
