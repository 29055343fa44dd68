import type { Log } from '#lib/log'
import type { FlagValues } from '../flags.ts'

/** Ways in which a node on an empty data directory gets a state. */
export type StartWay = 'snapshot' | 'anchored' | 'genesis'

export type StartFlags = FlagValues<'start' | 'snapshot' | 'source.state' | 'start.block-hash' | 'l1.rpc'>

/** A way with its cost, for the operator. */
type Explained = {
  readonly way: StartWay
  readonly bytes: string
  readonly takes: string
  readonly trust: string
  /** flags that the way lacks; undefined: it can be taken */
  readonly needs: string | undefined
}

export type FirstStart = { readonly way: StartWay; readonly ways: readonly Explained[] }

const voucher = '--l1.rpc with two endpoints of different hosts, or --start.block-hash'

/**
 * Chooses how a node on an empty data directory gets its state: the way of --start, else the best one whose source is given. A snapshot is whole from the first block
 * on, so it comes before an anchored start. Without a voucher the way that is chosen fails with a fault, because derivation from genesis may take weeks. Pure.
 */
export function chooseStart(given: StartFlags): FirstStart {
  const hasVoucher = given['start.block-hash'] !== undefined || (given['l1.rpc']?.length ?? 0) >= 2
  const needs = (...missing: readonly (readonly [string, boolean])[]): string | undefined => {
    const flags = missing.filter(([, isThere]) => !isThere).map(([flag]) => flag)
    return flags.length === 0 ? undefined : flags.join('; ')
  }
  const ways: readonly Explained[] = [
    {
      way: 'snapshot',
      bytes: 'the state, compressed, on the network; twice as many on the disk (Base: some 300 to 600 GB, a guess)',
      takes: 'hours, by the slower of network and disk; then the node is whole',
      trust: 'proposals on L1, or your word for a hash; each chunk is verified against the state root',
      needs: needs(['--snapshot DIR|URL', given.snapshot !== undefined], [voucher, hasVoucher]),
    },
    {
      way: 'anchored',
      bytes: 'some MB until the head is followed; then the fill reads the state, limited by --fill.bandwidth and --fill.max-disk',
      takes: 'a minute until the head is followed; the fill takes hours, and the sources are needed until it ends',
      trust: 'proposals on L1, or your word for a hash; each answer is verified against the state root',
      needs: needs(['--source.state URL', given['source.state'] !== undefined], [voucher, hasVoucher]),
    },
    {
      way: 'genesis',
      bytes: 'all data of the chain on L1 since its genesis',
      takes: 'weeks for a chain like Base; seconds for a new one',
      trust: 'nobody but L1: every block is derived and executed here',
      needs: undefined,
    },
  ]
  const best = given.snapshot !== undefined ? 'snapshot' : given['source.state'] !== undefined ? 'anchored' : 'genesis'
  return { way: given.start === 'auto' ? best : given.start, ways }
}

/** Explains the ways of a first start, and the one that is taken. */
export function explainStart({ way: taken, ways }: FirstStart, log: Log): void {
  for (const { way, bytes, takes, trust, needs } of ways) {
    log.info('a way to begin on an empty data directory', { way, bytes, takes, trust, ...(needs !== undefined && { needs }) })
  }
  log.info('first start', { way: taken })
}
