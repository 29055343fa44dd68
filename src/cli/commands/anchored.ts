import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import { isRetryable } from '#lib/retry'
import { type Anchored, anchorOf, startAnchored } from '#node/anchoredStart'
import type { NodeOptions } from '#node/nodeOptions'
import type { BlockId } from '#types/blockRef'
import { cliFault } from '../faults.ts'
import { type FlagValues, flags } from '../flags.ts'
import { trustOf } from './snapshotTrustFlags.ts'

/** Wait before the old chain is used again. */
const againMs = 60_000

type Given = FlagValues<'source.state' | 'start.block-hash' | 'trust.require' | 'l1.rpc' | 'source.l2.rpc'>

/** Begins the chain of an empty data directory with a recent block. @throws as `startAnchored`; Fault MISSING_FLAG (fatal) */
export async function beginAnchored(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  log: Log,
  given: Given,
  { config, datadir }: Pick<NodeOptions, 'config' | 'datadir'>,
  replaced?: BlockId,
): Promise<Anchored> {
  const { env, doc } = flags['source.state']
  const stateUrls = given['source.state']
  if (stateUrls === undefined) throw cliFault('MISSING_FLAG', { flag: 'source.state', variable: env, doc })
  const l2Url = given['source.l2.rpc'] ?? stateUrls[0] ?? ''
  const trust = trustOf({ clock }, log, { ...given, 'source.l2.rpc': l2Url }, config)
  return startAnchored({ fetch, clock, random: Math.random, log, signal }, { ...trust, config, datadir, stateUrls, l2Url, replaced })
}

/**
 * Takes a newer first block for a partial state of which the old one is lost. The old chain is removed once all of the new one is verified. When the sources do not
 * answer, or L1 vouches for no newer block yet, nothing changes.
 * @returns false: the fault is not that of a lost anchor, or the operator vouches for the block
 */
export async function takeNewAnchor(
  io: { readonly clock: Clock; readonly signal: AbortSignal },
  log: Log,
  given: Given,
  options: Pick<NodeOptions, 'config' | 'datadir'>,
  lost: unknown,
): Promise<boolean> {
  if (!isFault(lost, 'ANCHOR_LOST') && !isFault(lost, 'L1_CHAIN_MISMATCH')) return false
  if (given['source.state'] === undefined || given['start.block-hash'] !== undefined) return false
  const replaced = await anchorOf(options.datadir)
  if (replaced === undefined) return false
  log.warn('first block of the state is lost, taking a newer one', { number: replaced.number, hash: replaced.hash, reason: lost.message })
  try {
    log.info('chain begun', await beginAnchored(io, log, given, options, replaced))
  } catch (error) {
    if (!isRetryable(error) && !isFault(error, 'SNAPSHOT_UNTRUSTED')) throw error
    log.warn('no newer first block, continuing with the old one', { code: error.code, reason: error.message })
    await io.clock.delay(againMs, io.signal)
  }
  return true
}
