import type { Address } from '#types/ids'
import { type EvmRules, oldEvmForks } from './evmRules.ts'

const [, ...afterFrontier] = oldEvmForks

/** Ethereum's forks that begin at a block, in order. Those that only moved the difficulty bomb have no rules here. */
export const ethereumBlockForks = [...afterFrontier, 'paris'] as const
/** Those that begin at a time, in order; the last ones change blob parameters alone (EIP-7892). */
export const ethereumTimeForks = ['shanghai', 'cancun', 'prague', 'osaka', 'bpo1', 'bpo2', 'bpo3', 'bpo4', 'bpo5'] as const
export type EthereumBlockFork = (typeof ethereumBlockForks)[number]
export type EthereumTimeFork = (typeof ethereumTimeForks)[number]
export type EthereumFork = EthereumBlockFork | EthereumTimeFork

/** How many blobs a block may and should have, and how fast their price moves. @see EIP-7840 */
export type BlobParams = { readonly target: number; readonly max: number; readonly updateFraction: bigint }

/**
 * When which of Ethereum's own rules hold. A chain that has one is none of ours: it exists to be held against what others say of Ethereum,
 * and no network or rollup config leads to it.
 */
export type EthereumSchedule = {
  /** block numbers */
  readonly blocks: Readonly<Partial<Record<EthereumBlockFork, number>>>
  /** seconds */
  readonly times: Readonly<Partial<Record<EthereumTimeFork, number>>>
  readonly blobs: Readonly<Partial<Record<EthereumTimeFork, BlobParams>>>
  /** every block number at which a fork id changes, forks without rules here included; ascending, each once, none zero */
  readonly forkIdBlocks: readonly number[]
  /** EIP-6110 */
  readonly depositContract: Address
}

/** Where a block stands, as far as its rules depend on it. */
export type BlockPlace = { readonly number: number /** seconds */; readonly timestamp: number }

const isBlockFork = (fork: EthereumFork): fork is EthereumBlockFork => (ethereumBlockForks as readonly EthereumFork[]).includes(fork)

/** Whether a block follows the fork's rules. */
export function followsEthereum(schedule: EthereumSchedule, fork: EthereumFork, at: BlockPlace): boolean {
  if (isBlockFork(fork)) {
    const activation = schedule.blocks[fork]
    return activation !== undefined && at.number >= activation
  }
  const activation = schedule.times[fork]
  return activation !== undefined && at.timestamp >= activation
}

/** Blob parameters of a block; undefined before Cancun. */
export function blobParamsAt(schedule: EthereumSchedule, timestamp: number): BlobParams | undefined {
  const fork = ethereumTimeForks.findLast((each) => {
    const activation = schedule.times[each]
    return schedule.blobs[each] !== undefined && activation !== undefined && timestamp >= activation
  })
  return fork && schedule.blobs[fork]
}

const noLimits = { precompileLimits: {} } as const

/** One object per change of rules, latest first. Created contracts over old storage: as go-ethereum, which made the chains to compare with. */
const byFork: readonly (readonly [EthereumFork, EvmRules])[] = [
  ['osaka', { fork: 'osaka', ...noLimits, p256VerifyGas: 6_900, creationOverStorage: 'allow' }],
  ['prague', { fork: 'prague', ...noLimits, creationOverStorage: 'allow' }],
  ['cancun', { fork: 'cancun', ...noLimits }],
  ['shanghai', { fork: 'shanghai', ...noLimits }],
  ['paris', { fork: 'paris', ...noLimits }],
  ['london', { fork: 'paris', old: 'london', ...noLimits }],
  ['berlin', { fork: 'paris', old: 'berlin', ...noLimits }],
  ['istanbul', { fork: 'paris', old: 'istanbul', ...noLimits }],
  ['petersburg', { fork: 'paris', old: 'petersburg', ...noLimits }],
  ['constantinople', { fork: 'paris', old: 'constantinople', ...noLimits }],
  ['byzantium', { fork: 'paris', old: 'byzantium', ...noLimits }],
  ['spuriousDragon', { fork: 'paris', old: 'spuriousDragon', ...noLimits }],
  ['tangerineWhistle', { fork: 'paris', old: 'tangerineWhistle', ...noLimits }],
  ['homestead', { fork: 'paris', old: 'homestead', ...noLimits }],
]
const frontierRules: EvmRules = { fork: 'paris', old: 'frontier', ...noLimits }

/** What the interpreter follows in a block: the same object for all blocks between two changes. */
export function ethereumRulesAt(schedule: EthereumSchedule, at: BlockPlace): EvmRules {
  return byFork.find(([fork]) => followsEthereum(schedule, fork, at))?.[1] ?? frontierRules
}
