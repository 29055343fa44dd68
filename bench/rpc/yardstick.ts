import { median } from '../format.ts'
import { perSec, runLoad } from './load.ts'
import { type Machine, machines } from './rows.ts'
import type { Server } from './servers.ts'

const bodies = [JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })]

/** Returns the responses a second of the reference server, by which this machine is compared with a recording one. */
export async function bareRate(folder: string, { url }: Pick<Server, 'url'>): Promise<number> {
  return perSec(await runLoad(folder, { url, bodies, connections: 32, seconds: 1, way: 'measure' }))
}

export const digits = (value: number): number => Number(value.toFixed(3))

/**
 * Returns the figures of a row beside base-reth-node on its recording machine: ours / (theirs × r), where r is the rate of the reference server here
 * divided by its rate there.
 * @param rates of the runs
 * @param bareRates of the reference server, before each run
 * @param theirs rate of base-reth-node
 */
export function besideReth(rates: readonly number[], bareRates: readonly number[], theirs: number, on: Machine) {
  const factors = rates.map((rate, at) => rate / ((theirs * (bareRates[at] ?? 0)) / machines[on]))
  return {
    against: { name: 'bare node:http', value: median(bareRates), runs: bareRates },
    recorded: { baseReth: theirs, yardstick: machines[on] },
    factors: { factorMin: digits(Math.min(...factors)), factor: digits(median(factors)), factorMax: digits(Math.max(...factors)) },
  }
}
