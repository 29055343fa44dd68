import { startCli } from '#test/harness/process/cliProcess'
import { median, type Row, row } from '../format.ts'
import { perSec, runLoad } from '../rpc/load.ts'
import { machines } from '../rpc/rows.ts'
import type { Server } from '../rpc/servers.ts'
import type { Chain } from './clients.ts'

/** base-reth-node of May 2026 with these blocks on the machine `november`: median of three quiet rounds, and of the times of newPayload. */
export const recordedReth = { mgasPerSec: 392, p99Ms: 178 } as const

const bareBodies = [JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })]

/** Returns the responses a second of the reference server, by which this machine is compared with the recording one. */
export async function bareRate(folder: string, { url }: Server): Promise<number> {
  return perSec(await runLoad(folder, { url, bodies: bareBodies, connections: 32, seconds: 1, way: 'measure' }))
}

/** Returns the Mgas a second of `basalt import` in a process of its own. @throws Error when it fails */
export async function importedFromFile(chain: Chain, file: string, datadir: string): Promise<number> {
  await using cli = startCli(['import', file, '--genesis', chain.genesisFile, '--datadir', datadir, '--json'])
  const { code, stdout, stderr } = await cli.ended()
  if (code !== 0) throw new Error(`the import failed: ${stderr.slice(-2_000)}`)
  const { seconds, gas } = JSON.parse(stdout) as { seconds: number; gas: number }
  return gas / 1e6 / seconds
}

/**
 * Returns a row of rates beside base-reth-node on its recording machine: ours / (theirs × r), where r is the rate of the reference server here, measured
 * before each round, divided by its rate there.
 * @param mgasPerSec of each round
 */
export function besideReth(name: string, mgasPerSec: readonly number[], bareRates: readonly number[], goal: number): Row {
  const factors = mgasPerSec.map((rate, at) => rate / ((recordedReth.mgasPerSec * (bareRates[at] ?? 0)) / machines.november))
  const digits = (value: number): number => Number(value.toFixed(3))
  return {
    ...row(name, 'Mgas/s', mgasPerSec),
    against: { name: 'bare node:http', value: median(bareRates), runs: bareRates },
    facts: {
      ...{ baseReth: recordedReth.mgasPerSec, yardstick: machines.november, goal },
      ...{ factorMin: digits(Math.min(...factors)), factor: digits(median(factors)), factorMax: digits(Math.max(...factors)) },
    },
  }
}
