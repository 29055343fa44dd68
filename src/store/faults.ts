import { defineFaults } from '#lib/fault'

export const storeFault = defineFaults({
  DATADIR_LOCKED: {
    severity: 'fatal',
    says: (d: { dir: string }) => `another process uses the data directory ${d.dir}`,
    fix: 'stop the other node, or set another directory: --datadir DIR',
  },
  DATADIR_UNWRITABLE: {
    severity: 'fatal',
    says: (d: { dir: string; reason: string }) => `the data directory ${d.dir} cannot be written: ${d.reason}`,
    fix: 'let this user write there (chown, chmod, mount options), or set another directory: --datadir DIR',
  },
  DATADIR_DAMAGED: {
    severity: 'fatal',
    says: (d: { dir: string; reason: string }) => `the database in ${d.dir} cannot be opened: ${d.reason}`,
    fix: 'free space or check the disk; if the fault persists, start again with an empty data directory or a snapshot',
  },
  DATADIR_READ: {
    severity: 'fatal',
    says: (d: { dir: string; pid: number }) => `process ${d.pid} reads the database in ${d.dir}`,
    fix: 'wait until that process ends, or stop it (basalt db verify, for example), then start again',
  },
  NO_ROOM_FOR_COPY: {
    severity: 'fatal',
    says: (d: { dir: string; freeBytes: number; neededBytes: number }) =>
      `a copy of the database in ${d.dir} needs ${d.neededBytes} bytes, and ${d.freeBytes} are free`,
    fix: 'free space on that disk, or move the data directory to a larger one',
  },
  STORE_DAMAGED: {
    severity: 'fatal',
    says: (d: { dir: string; reason: string }) => `the database in ${d.dir} is damaged: ${d.reason}`,
    fix: 'check the disk and the memory; `basalt db verify` says what else is damaged; start again with an empty data directory or a snapshot',
  },
  DISK_FULL: {
    severity: 'retry',
    says: (d: { dir: string; reason: string }) => `no space left to write to ${d.dir}: ${d.reason}`,
    fix: 'free space on that disk; the node then continues by itself, and no acknowledged write is lost',
  },
  DISK_LOW: {
    severity: 'retry',
    says: (d: { freeBytes: number; minFreeBytes: number }) =>
      `only ${d.freeBytes} bytes are free on the disk of the data directory, less than ${d.minFreeBytes}: new blocks are rejected`,
    fix: 'free space on that disk, after which the node continues by itself; or lower the minimum: --db.min-free BYTES',
  },
  STORE_FAILED: {
    severity: 'fatal',
    says: (d: { dir: string; reason: string }) => `the database in ${d.dir} failed: ${d.reason}`,
    fix: 'check the disk, its mount and limits on file size (ulimit -f), then start again; no committed write is lost',
  },
  SEGMENT_DAMAGED: {
    severity: 'fatal',
    says: (d: { path: string; reason: string }) => `the segment file ${d.path} cannot be read: ${d.reason}`,
    fix: 'check the disk; copy the file of this name from a backup or another node (its name ends with its SHA-256), then start again',
  },
  SCHEMA_LOST: {
    severity: 'fatal',
    says: () => 'the data directory has rows and no schema: a page of its database is damaged',
    fix: 'check the disk; start again with an empty data directory or a snapshot',
  },
  SCHEMA_NEWER: {
    severity: 'fatal',
    says: (d: { found: number; known: number }) => `the data directory has schema ${d.found}, this version supports ${d.known}`,
    fix: 'run the newer version that wrote it, or start with an empty data directory',
  },
  SCHEMA_TOO_OLD: {
    severity: 'fatal',
    says: (d: { found: number; known: number }) => `the data directory has schema ${d.found}, which cannot be migrated to ${d.known}`,
    fix: 'start with an empty data directory or a snapshot',
  },
})
