import { crc32 } from 'node:zlib'
import { u64Bytes } from '#lib/bytes'
import { fromHex, type Hex } from '#lib/hex'
import type { Hash } from '#types/ids'
import { type Fork, type ForkSchedule, forks } from './forks.ts'
import type { RollupConfig } from './rollupConfig.ts'

/** Fork id: a checksum of the chain's past forks, and the time (seconds) of the next fork, 0 when none is scheduled. */
export type ForkId = { readonly hash: Hex; readonly next: number }

/** The chain data that determines fork ids. */
export type ForkIdChain = { readonly schedule: ForkSchedule; readonly genesis: Pick<RollupConfig['genesis'], 'l2' | 'l2TimeSec'> }

/** Forks excluded from the checksum. Delta concerns derivation only; execution clients do not know it. */
const uncounted: readonly Fork[] = ['bedrock', 'delta']

/**
 * Computes the CRC-32 of the genesis hash and of each activation after it, 4 bytes in hex.
 * @param activations times in seconds; on Ethereum block numbers before them; ascending, unique
 * @see EIP-2124, "Fork identifier"; EIP-6122
 */
export function forkHash(genesis: Hash, activations: readonly number[]): Hex {
  let sum = crc32(fromHex(genesis))
  for (const activation of activations) sum = crc32(u64Bytes(activation), sum)
  return `0x${sum.toString(16).padStart(8, '0')}`
}

/** Returns the times (seconds) after genesis at which execution rules change; ascending, unique. Includes scheduled forks without rules here. */
export function forkActivations({ schedule, genesis }: ForkIdChain): readonly number[] {
  const times = forks.filter((fork) => !uncounted.includes(fork)).flatMap((fork) => schedule[fork] ?? [])
  return [...new Set(times)].filter((time) => time > genesis.l2TimeSec).sort((a, b) => a - b)
}

/** Returns the fork id at a head time in seconds. */
export function forkIdAt(chain: ForkIdChain, timestamp: number): ForkId {
  const activations = forkActivations(chain)
  const passed = activations.filter((time) => time <= timestamp)
  return {
    hash: forkHash(chain.genesis.l2.hash, passed),
    next: activations[passed.length] ?? 0,
  }
}

/** Verdict on the fork id of a peer. `local_stale`: this node does not know a fork that the peer has passed; or the peer is of another chain. */
export type ForkIdVerdict = 'compatible' | 'local_stale' | 'remote_stale'

/**
 * Returns whether a peer with this fork id follows the same rules, as far as both can know.
 * @param activations of this node's rules, known future ones included
 * @param head of this node, in the unit of the activations
 * @see EIP-2124, "Validation rules"
 */
export function judgeForkId(genesis: Hash, activations: readonly number[], head: number, remote: ForkId): ForkIdVerdict {
  const hashes = [undefined, ...activations].map((_, passed) => forkHash(genesis, activations.slice(0, passed)))
  const passed = activations.filter((time) => time <= head).length
  const at = hashes.indexOf(remote.hash)
  if (at === passed) return remote.next > 0 && head >= remote.next ? 'local_stale' : 'compatible'
  if (at < 0) return 'local_stale'
  // a peer behind this node must know the fork that follows its own state
  return at > passed || activations[at] === remote.next ? 'compatible' : 'remote_stale'
}
