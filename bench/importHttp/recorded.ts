import { startCli } from '#test/harness/process/cliProcess'
import { type Row, row } from '../format.ts'
import { besideReth } from '../rpc/yardstick.ts'
import type { Chain } from './clients.ts'

/** base-reth-node of May 2026 with these blocks on the machine `november`: median of three quiet rounds, and of the times of newPayload. */
export const recordedReth = { mgasPerSec: 392, p99Ms: 178 } as const

/** Returns the Mgas a second of `basalt import` in a process of its own. @throws Error when it fails */
export async function importedFromFile(chain: Chain, file: string, datadir: string): Promise<number> {
  await using cli = startCli(['import', file, '--genesis', chain.genesisFile, '--datadir', datadir, '--json'])
  const { code, stdout, stderr } = await cli.ended()
  if (code !== 0) throw new Error(`the import failed: ${stderr.slice(-2_000)}`)
  const { seconds, gas } = JSON.parse(stdout) as { seconds: number; gas: number }
  return gas / 1e6 / seconds
}

/** Returns the row of an import's rates beside the recorded ones. @param bareRates of the reference server, before each round */
export function importRow(name: string, mgasPerSec: readonly number[], bareRates: readonly number[], goal: number): Row {
  const { against, recorded, factors } = besideReth(mgasPerSec, bareRates, recordedReth.mgasPerSec, 'november')
  return { ...row(name, 'Mgas/s', mgasPerSec), against, facts: { ...recorded, goal, ...factors } }
}
