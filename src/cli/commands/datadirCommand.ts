import { networkOf } from '#chainspec/networks'
import type { Clock } from '#lib/clock'
import { datadirOf } from '../datadir.ts'
import { cliFault } from '../faults.ts'
import { type FlagName, type FlagValues, flags } from '../flags.ts'
import type { LiveLine } from '../output.ts'
import { duration } from '../progress.ts'
import { count } from '../textLayout.ts'

/** Flags of commands on a data directory. */
export const located = ['datadir', 'network', 'json'] as const satisfies readonly FlagName[]

/** Returns the data directory. @throws Fault MISSING_FLAG when it depends on a chain and --network is absent */
export function directoryOf({ datadir, network }: FlagValues<'datadir' | 'network'>): string {
  if (network !== undefined) return datadirOf(datadir, networkOf(network).config.l2ChainId)
  if (!datadir.includes('{network}')) return datadir
  throw cliFault('MISSING_FLAG', { flag: 'network', variable: flags.network.env, doc: 'it replaces {network} in --datadir' })
}

/** Returns how many were done per second, and the time that the rest takes as text. */
export function paceOf(done: number, todo: number, ms: number): { readonly rate: number; readonly left: string } {
  const rate = done / Math.max(0.001, ms / 1_000)
  return { rate, left: rate > 0 ? `${duration(Math.max(0, todo) / rate)} left` : 'waiting' }
}

/** Returns a function that shows how many blocks are done, with rate and time left. */
export function showBlocks(clock: Pick<Clock, 'nowMs'>, line: LiveLine, work: string): (blocks: number, ofBlocks: number) => void {
  const startMs = clock.nowMs()
  return (blocks, ofBlocks) => {
    const { rate, left } = paceOf(blocks, ofBlocks - blocks, clock.nowMs() - startMs)
    line.show(`${work}  ${count(blocks)}/${count(ofBlocks)} blocks  ${count(rate)} blocks/s  ${left}`)
  }
}

const chainFlags = ['network', 'rollup.config', 'genesis', 'start.block-hash'] as const satisfies readonly FlagName[]

/** Returns the command line that continues an interrupted load, which the database keeps. @param words without secrets */
export function continuing(words: string, given: FlagValues<(typeof chainFlags)[number]>, datadir: string): string {
  const chain = chainFlags.flatMap((name) => (given[name] === undefined ? [] : [`--${name} ${given[name]}`]))
  return [words, ...chain, `--datadir ${datadir}`].join(' ')
}
