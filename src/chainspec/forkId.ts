import { crc32 } from 'node:zlib'
import { u64Bytes } from '#lib/bytes'
import { fromHex, type Hex } from '#lib/hex'
import type { Hash } from '#types/ids'
import { ethereumTimeForks } from './ethereumSchedule.ts'
import { type Fork, type ForkSchedule, forks } from './forks.ts'
import type { RollupConfig } from './rollupConfig.ts'

/** What a fork id tells: a checksum of the chain's past, and the time (seconds) of the next fork, 0 when none is planned. */
export type ForkId = { readonly hash: Hex; readonly next: number }

/** What a chain's fork ids follow from. */
export type ForkIdChain = { readonly schedule: ForkSchedule; readonly genesis: Pick<RollupConfig['genesis'], 'l2' | 'l2TimeSec'> }

/** Delta concerns derivation, which execution clients know nothing of. */
const uncounted: readonly Fork[] = ['bedrock', 'delta']

/**
 * CRC-32 of the genesis hash and of each activation after it, 4 bytes in hex.
 * @param activations block numbers, then times in seconds, ascending, each once
 * @see EIP-2124, "Fork identifier"; EIP-6122
 */
export function forkHash(genesis: Hash, activations: readonly number[]): Hex {
  let sum = crc32(fromHex(genesis))
  for (const activation of activations) sum = crc32(u64Bytes(activation), sum)
  return `0x${sum.toString(16).padStart(8, '0')}`
}

/** Times (seconds) at which execution's rules change after genesis, ascending, each once: planned forks count whether or not they have rules here. */
export function forkActivations({ schedule, genesis }: ForkIdChain): readonly number[] {
  const { ethereum } = schedule
  const times = ethereum
    ? ethereumTimeForks.flatMap((fork) => ethereum.times[fork] ?? [])
    : forks.filter((fork) => !uncounted.includes(fork)).flatMap((fork) => schedule[fork] ?? [])
  return [...new Set(times)].filter((time) => time > genesis.l2TimeSec).sort((a, b) => a - b)
}

/** The fork id of a head of this time (seconds); on Ethereum's own chain, after the merge. */
export function forkIdAt(chain: ForkIdChain, timestamp: number): ForkId {
  const activations = forkActivations(chain)
  const passed = activations.filter((time) => time <= timestamp)
  return {
    hash: forkHash(chain.genesis.l2.hash, [...(chain.schedule.ethereum?.forkIdBlocks ?? []), ...passed]),
    next: activations[passed.length] ?? 0,
  }
}
