import { defineFaults } from '#lib/fault'

export const chainFault = defineFaults({
  INVALID_CONFIG: {
    severity: 'fatal',
    says: (d: { what: string; key: string; expected: string; found: string }) =>
      `${d.what}: ${d.key} is ${d.found}, expected ${d.expected}`,
    fix: 'correct the value in the file, or use the file that the chain publishes',
  },
  WRONG_GENESIS: {
    severity: 'fatal',
    says: (d: { expected: string; computed: string }) => `the genesis block is ${d.computed}, the rollup config has ${d.expected}`,
    fix: 'use --rollup.config and --genesis of the same chain',
  },
  UNSUPPORTED_FORK: {
    severity: 'fatal',
    says: (d: { fork: string; activationSec: number; timestampSec: number }) =>
      `fork ${d.fork} is active from ${d.activationSec} (block time ${d.timestampSec}), but this version lacks its rules`,
    fix: 'install a version that supports the fork; blocks derived before the fork remain valid',
  },
  FORK_SCHEDULE_DIFFERS: {
    severity: 'fatal',
    says: (d: { fork: string; builtIn: string; published: string; timestampSec: number }) =>
      `fork ${d.fork} activates at ${d.builtIn} by this version, at ${d.published} by the schedule on L1 (block time ${d.timestampSec})`,
    fix: 'install a version with the published time, check the L1 endpoints, or start without --forks.from-l1 to follow the times of this version',
  },
  MALFORMED_DEPOSIT: {
    severity: 'fatal',
    says: (d: { l1Block: string; logIndex: number; reason: string }) => `deposit log ${d.logIndex} of L1 block ${d.l1Block}: ${d.reason}`,
    fix: 'check deposit_contract_address in the rollup config: the contract there is not an OptimismPortal',
  },
  L1_BLOB_SCHEDULE: {
    severity: 'fatal',
    says: (d: { number: number; hash: string; l1ChainId: number; reason: string }) =>
      `the blob schedule of L1 (chain id ${d.l1ChainId}) does not explain L1 block ${d.number} ${d.hash}: ${d.reason}`,
    fix: 'configure the chain config of L1 with its blobSchedule: --l1.chain-config FILE; or install a version that has it; derived blocks remain valid',
  },
  MALFORMED_L1_ATTRIBUTES: {
    severity: 'fatal',
    says: (d: { reason: string }) => `L1 attributes of an L2 block cannot be read: ${d.reason}`,
    fix: 'check that the rollup config belongs to this chain',
  },
})
