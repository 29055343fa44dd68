import { defineFaults } from '#lib/fault'

export const executionFault = defineFaults({
  INVALID_ATTRIBUTES: {
    severity: 'fatal',
    says: (d: { timestamp: number; reason: string }) => `payload attributes for time ${d.timestamp}: ${d.reason}`,
    fix: 'check that the consensus client and this node have the same rollup config',
  },
  INVALID_BLOCK: {
    severity: 'fatal',
    says: (d: { number: number; reason: string }) => `block ${d.number} is invalid: ${d.reason}`,
    fix: 'check that the file belongs to the chain of this genesis and is complete',
  },
  BAD_LINE: {
    severity: 'fatal',
    says: (d: { line: number; reason: string }) => `line ${d.line} of the payload file: ${d.reason}`,
    fix: 'give a file with one {"p": payload, "root": parent beacon block root} per line',
  },
  GENESIS_MISMATCH: {
    severity: 'fatal',
    says: (d: { stored: string; configured: string }) =>
      `the data directory belongs to the chain with genesis ${d.stored}, the configured genesis is ${d.configured}`,
    fix: 'choose the network of this data directory, or another --datadir',
  },
  BASE_BLOCK_REFUSED: {
    severity: 'fatal',
    says: (d: { number: number; reason: string }) => `the chain cannot begin with block ${d.number}: ${d.reason}`,
    fix: 'take the state and its blocks from another source, into an empty data directory',
  },
  STATE_UNFINISHED: {
    severity: 'fatal',
    says: (d: { command: string }) =>
      `the state in the data directory is not whole, because loading it was interrupted; to continue: ${d.command}`,
    fix: 'run that command to the end, or remove the data directory',
  },
  EXECUTION_STOPPED: {
    severity: 'fatal',
    says: (d: { reason: string }) => `the execution thread stopped: ${d.reason}`,
    fix: 'start the node again: nothing that was acknowledged is lost; if it happens again, please report it with the log',
  },
  EXECUTION_CLOSING: {
    severity: 'retry',
    says: (d: { number: number }) => `execution of block ${d.number} was abandoned: the execution thread is shutting down`,
    fix: 'none needed: the block is executed after the next start, when it is offered again',
  },
  REORG_UNFINISHED: {
    severity: 'retry',
    says: (d: { left: number }) => `no block can be taken while ${d.left} replaced blocks are removed from the database`,
    fix: 'none needed: removal continues by itself, some ten blocks a second, and the block is taken when it is offered again',
  },
  CHAIN_STORE_DAMAGED: {
    severity: 'fatal',
    says: (d: { what: string }) => `the data directory lacks ${d.what}`,
    fix: 'remove the data directory and let the node derive the chain again',
  },
})
