import { defineFaults } from '#lib/fault'

export const nodeFault = defineFaults({
  OPTION_UNSUPPORTED: {
    severity: 'fatal',
    says: (d: { option: string }) => `this version does not support ${d.option}`,
    fix: 'remove the option',
  },
  OPTION_MISSING: {
    severity: 'fatal',
    says: (d: { mode: string; option: string }) => `--mode ${d.mode} needs ${d.option}`,
    fix: 'set it, or choose another mode: all, execution, consensus',
  },
  SNAPSHOT_BODY_NEEDED: {
    severity: 'fatal',
    says: (d: { number: number; hash: string }) =>
      `the transactions of block ${d.number} ${d.hash} are needed, and the snapshot has them only in a form that reth alone can read`,
    fix: 'name any node of the chain: --source.l2.rpc URL; what it returns is compared with the header',
  },
  SNAPSHOT_BODY_UNKNOWN: {
    severity: 'fatal',
    says: (d: { endpoint: string; number: number; hash: string }) => `${d.endpoint} does not have block ${d.number} ${d.hash}`,
    fix: 'name a node that keeps this block: --source.l2.rpc URL; if none has it, the snapshot is of another chain',
  },
  ANCHOR_UNKNOWN: {
    severity: 'fatal',
    says: (d: { endpoint: string; what: string }) => `${d.endpoint} does not have ${d.what}, with which the chain should begin`,
    fix: 'name a node of the chain that has its newest blocks: --source.l2.rpc URL, or the first URL of --source.state',
  },
  ANCHOR_TOO_OLD: {
    severity: 'fatal',
    says: (d: { number: number }) => `block ${d.number} is older than Ecotone, whose rules fetched state needs`,
    fix: 'begin with a later block, or restore a snapshot: --snapshot',
  },
  THREAD_UNMEASURED: {
    severity: 'retry',
    says: (d: { thread: number; reason: string }) => `/metrics has old values of RPC thread ${d.thread}: ${d.reason}`,
    fix: 'a busy thread answers a later scrape; if it lasts, look at basalt_node_rpc_loop_lag_seconds',
  },
  ANCHOR_NOT_NEWER: {
    severity: 'retry',
    says: (d: { number: number; replaced: number }) =>
      `the newest block that can be vouched for is ${d.number}, not after block ${d.replaced}, with which the state began`,
    fix: 'wait for a newer proposal on L1: the node tries again',
  },
  ANCHOR_LOST: {
    severity: 'fatal',
    says: (d: { reason: string }) => `the block with which the state began can no longer be used: ${d.reason}`,
    fix: 'with --source.state and proposals on L1 the node takes a newer block by itself; with --start.block-hash name a newer one, and an empty --datadir',
  },
  STATE_NOT_FILLED: {
    severity: 'retry',
    says: (d: { table: string; expected: string; found: string }) =>
      `the state is not whole after the fill: the table ${d.table} must have ${d.expected}, found ${d.found}`,
    fix: 'nothing: the fill begins again, and reads what is missing',
  },
  STATE_ROW_WRONG: {
    severity: 'fatal',
    says: (d: { table: string; key: string; expected: string; found: string }) =>
      `the table ${d.table} must have ${d.expected} at ${d.key}, found ${d.found}; two fills of the state did not change it`,
    fix: 'the database is damaged: begin again in an empty --datadir, with --snapshot or --start anchored',
  },
})
