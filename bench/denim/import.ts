// Import of Denim blocks of 8 Mgas by `basalt import` in a fresh process, from a file that this suite makes. The process knows no sender.
// npm run bench -- denimImport [--blocks 20000] [--rounds 1] [--dir DIR]: the file of blocks is kept in DIR, and used again from there
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { startCli } from '#test/harness/process/cliProcess'
import { distribution, median, type Row } from '../format.ts'
import { inFolder } from '../rpc/servers.ts'
import { createDenimChain, DenimBlocks, type DenimChain } from './chain.ts'
import { Mix } from './mix.ts'
import { writeMixedBlocks } from './payloadFile.ts'
import { senders } from './senders.ts'

const defaultBlocks = 20_000
const blocksPerSec = 5
/** Parts of an import whose rates are the samples of a row. */
const parts = 20

/** Writes a chain of blocks to a payload file. The first block deploys the contracts. */
async function writeBlocks(chain: DenimChain, folder: string, path: string, count: number): Promise<void> {
  await using open = await chain.open(join(folder, 'builder'))
  const mix = new Mix()
  const blocks = await DenimBlocks.on(chain.config, open)
  await writeMixedBlocks(path, blocks, [[], mix.deployments()], count, () => mix.next())
}

/** Returns the file of a number of blocks in a folder, made if it is not there. @param folder for temporary files */
export async function payloadFileOf(chain: DenimChain, folder: string, dir: string, blocks: number): Promise<string> {
  const path = join(dir, `blocks-${blocks}.jsonl`)
  if (!existsSync(path)) {
    await writeBlocks(chain, folder, `${path}.part`, blocks)
    renameSync(`${path}.part`, path)
  }
  return path
}

/** `timesMs`: at which each block was executed */
type Imported = { readonly seconds: number; readonly gas: number; readonly timesMs: readonly number[] }

/** Imports the file in a process of its own, whose log has a line for each block. */
async function importOnce(chain: DenimChain, path: string, datadir: string): Promise<Imported> {
  const flags = ['--genesis', chain.genesisFile, '--datadir', datadir, '--json', '--log.level', 'debug', '--log.format', 'json']
  await using cli = startCli(['import', path, ...flags])
  const { code, stdout, stderr } = await cli.ended()
  if (code !== 0) throw new Error(`the import failed: ${stderr.slice(-2_000)}`)
  const { seconds, gas } = JSON.parse(stdout) as { seconds: number; gas: number }
  const timesMs = stderr
    .split('\n')
    .filter((line) => line.includes('"block executed"'))
    .map((line) => Date.parse((JSON.parse(line) as { time: string }).time))
  return { seconds, gas, timesMs }
}

/** Returns the blocks per second of each part of an import. */
function ratesOf({ timesMs }: Imported): readonly number[] {
  const size = Math.max(1, Math.floor((timesMs.length - 1) / parts))
  return Array.from({ length: parts }, (_, part) => {
    const [from, to] = [timesMs[part * size], timesMs[(part + 1) * size]]
    return from === undefined || to === undefined ? [] : [(size * 1_000) / Math.max(1, to - from)]
  }).flat()
}

/** @returns the row of one figure of each import: its value of the whole import, and its values of the parts */
function rateRow(name: string, unit: string, all: readonly Imported[], factor: (imported: Imported) => number): Row {
  const wholes = all.map((imported) => (imported.timesMs.length / imported.seconds) * factor(imported))
  const runs = all.flatMap((imported) => ratesOf(imported).map((rate) => rate * factor(imported)))
  return { ...distribution(name, unit, runs), value: median(wholes) }
}

type ImportBench = { readonly blocks?: number; readonly rounds?: number; readonly dir?: string }

export function run({ blocks = defaultBlocks, rounds = 1, dir }: ImportBench): Promise<readonly Row[]> {
  return inFolder('denim-import', async (folder) => {
    const keep = dir ?? folder
    mkdirSync(keep, { recursive: true })
    const chain = createDenimChain(keep, senders)
    const path = await payloadFileOf(chain, folder, keep, blocks)
    const all: Imported[] = []
    for (let round = 0; round < rounds; round++) all.push(await importOnce(chain, path, join(folder, `imported-${round}`)))
    const name = (what: string): string => `import of ${blocks} Denim blocks: ${what}`
    const intervals = all.flatMap(({ timesMs }) => timesMs.slice(1).map((ms, at) => ms - (timesMs[at] ?? ms)))
    return [
      rateRow(name('blocks'), 'blocks/s', all, () => 1),
      rateRow(name('gas'), 'Mgas/s', all, ({ gas, timesMs }) => gas / 1e6 / timesMs.length),
      rateRow(name('speed'), '× real time', all, () => 1 / blocksPerSec),
      distribution(name('time of one'), 'ms, less is better', intervals),
    ]
  })
}
