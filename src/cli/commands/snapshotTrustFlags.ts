import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Log } from '#lib/log'
import { createSnapshotTrust } from '#node/snapshotTrust'
import type { TrustPort } from '#snapshot/trustPort'
import { type Hash, parseHash } from '#types/ids'
import type { Io } from '../command.ts'
import type { FlagValues } from '../flags.ts'

/** Returns how the flags vouch for the block of a snapshot: by its hash, by L1, or both, of which the hash comes first. */
export function trustOf(
  { clock }: Pick<Io, 'clock'>,
  log: Log,
  given: FlagValues<'start.block-hash' | 'trust.require' | 'l1.rpc' | 'source.l2.rpc'>,
  config: RollupConfig,
): { readonly given?: Hash; readonly trust?: TrustPort } {
  const [hash, l1Urls, required] = [given['start.block-hash'], given['l1.rpc'], given['trust.require']]
  const deps = { fetch, clock, random: Math.random, log }
  return {
    ...(hash !== undefined && { given: parseHash(hash) }),
    ...(l1Urls !== undefined && { trust: createSnapshotTrust(deps, { config, required, l1Urls, l2Url: given['source.l2.rpc'] }) }),
  }
}
