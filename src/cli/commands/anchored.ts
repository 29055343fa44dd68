import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import { type Anchored, startAnchored } from '#node/anchoredStart'
import type { NodeOptions } from '#node/nodeOptions'
import { cliFault } from '../faults.ts'
import { type FlagValues, flags } from '../flags.ts'
import { trustOf } from './snapshotTrustFlags.ts'

type Given = FlagValues<'source.state' | 'start.block-hash' | 'trust.require' | 'l1.rpc' | 'source.l2.rpc'>

/** Begins the chain of an empty data directory with a recent block. @throws as `startAnchored`; Fault MISSING_FLAG (fatal) */
export async function beginAnchored(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  log: Log,
  given: Given,
  { config, datadir }: Pick<NodeOptions, 'config' | 'datadir'>,
): Promise<Anchored> {
  const { env, doc } = flags['source.state']
  const stateUrls = given['source.state']
  if (stateUrls === undefined) throw cliFault('MISSING_FLAG', { flag: 'source.state', variable: env, doc })
  const l2Url = given['source.l2.rpc'] ?? stateUrls[0] ?? ''
  const trust = trustOf({ clock }, log, { ...given, 'source.l2.rpc': l2Url }, config)
  return startAnchored({ fetch, clock, random: Math.random, log, signal }, { ...trust, config, datadir, stateUrls, l2Url })
}
